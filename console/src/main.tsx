/** Starts the console: styles, nonce, language, providers, router. */
import './nonce';
import './theme/font.css';
import './theme/mantine.css';
import './theme/tokens.css';
import './theme/base.css';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api/problem';
import { App } from './app/App';
import { loadLanguage } from './i18n/t';
import { settings } from './settings/settings';

await loadLanguage(settings().language);
createRoot(document.getElementById('root')!, {
  // A refusal of the server is shown by the page; only our own mistakes belong in the browser's console.
  onCaughtError: (error) => {
    if (!(error instanceof ApiProblem)) console.error(error);
  },
}).render(<App />);
