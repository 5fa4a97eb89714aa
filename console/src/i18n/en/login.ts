export const login = {
  'login.byLink': 'Logging in by one-time link …',
  'login.ended': 'Your session ended. Log in to go on; nothing on the page is lost.',
  'login.key': 'API key',
  'login.keyHint': 'The key is not kept in the browser.',
  'login.linkHint': 'Or get a one-time link on the server:',
  'login.showKey': 'Show or hide the key',
  'login.submit': 'Log in',
  'login.title': 'Log in to Refire',
  'login.wrongKey': 'This key is not valid.',
} as const;
