/** What to try, in the language of the page. The server writes English; what it writes is known by its title. */
import type { fixes } from '@/i18n/en/fixes';
import { language, t } from '@/i18n/t';

type Key = keyof typeof fixes;

interface Suggestion {
  title: string;
  detail: string;
}

const KNOWN: Record<string, { title: Key; detail: Key }> = {
  'Save the workflow again': { title: 'fix.saveAgain', detail: 'fix.saveAgainWhy' },
  'Let the sender say that it sends JSON': { title: 'fix.sayJson', detail: 'fix.sayJsonWhy' },
  'Undo the step by hand': { title: 'fix.undo', detail: 'fix.undoWhy' },
  'Find out why the server died': { title: 'fix.serverDied', detail: 'fix.serverDiedWhy' },
  'Make the outputs smaller, or split the workflow': {
    title: 'fix.smaller',
    detail: 'fix.smallerWhy',
  },
  'Check that the target is up': { title: 'fix.targetUp', detail: 'fix.targetUpWhy' },
  'Give the target more time': { title: 'fix.moreTime', detail: 'fix.moreTimeWhy' },
  "Look at the target's log": { title: 'fix.targetLog', detail: 'fix.targetLogWhy' },
  'Check the host name': { title: 'fix.hostName', detail: 'fix.hostNameWhy' },
  'Check the certificate': { title: 'fix.certificate', detail: 'fix.certificateWhy' },
  'Allow the address, if it is meant': { title: 'fix.allow', detail: 'fix.allowWhy' },
  'Use the final address': { title: 'fix.redirect', detail: 'fix.redirectWhy' },
  'Ask for less, or allow more': { title: 'fix.less', detail: 'fix.lessWhy' },
  'Check what answers there': { title: 'fix.whatAnswers', detail: 'fix.whatAnswersWhy' },
  'Set the secret': { title: 'fix.secret', detail: 'fix.secretWhy' },
  'Edit the input or the template': { title: 'fix.template', detail: 'fix.templateWhy' },
  'Simplify the mapping, or ask for less': { title: 'fix.mapping', detail: 'fix.mappingWhy' },
  "Read the task's error": { title: 'fix.local', detail: 'fix.localWhy' },
  'Read what the target called back': { title: 'fix.callback', detail: 'fix.callbackWhy' },
  "Look at the server's log": { title: 'fix.serverLog', detail: 'fix.serverLogWhy' },
  "Read the worker's error": { title: 'fix.worker', detail: 'fix.workerWhy' },
  'Check that workers ask for this task type': {
    title: 'fix.noWorker',
    detail: 'fix.noWorkerWhy',
  },
  "Look at the worker's log": { title: 'fix.workerLog', detail: 'fix.workerLogWhy' },
  'Edit the input and retry': { title: 'fix.input', detail: 'fix.inputWhy' },
  'Check the credentials': { title: 'fix.credentials', detail: 'fix.credentialsWhy' },
  'Check the address and the ids': { title: 'fix.address', detail: 'fix.addressWhy' },
  'See whether it is done already': { title: 'fix.conflict', detail: 'fix.conflictWhy' },
  'Slow down': { title: 'fix.slow', detail: 'fix.slowWhy' },
  'Wait for the target to recover': { title: 'fix.recover', detail: 'fix.recoverWhy' },
  'Read the response': { title: 'fix.response', detail: 'fix.responseWhy' },
};

/** The same title with three reasons, by how the server's sentence begins. */
const RETRY_LATER: [start: string, detail: Key][] = [
  ['The policy allows no', 'fix.laterNone'],
  ["The policy's time limit", 'fix.laterTime'],
  ['Every automatic retry', 'fix.laterAll'],
];

export function inThisLanguage(given: Suggestion): Suggestion {
  if (language() === 'en') return given;
  if (given.title === 'Retry once the target is healthy') {
    const detail = RETRY_LATER.find(([start]) => given.detail.startsWith(start))?.[1];
    return { title: t('fix.later'), detail: detail ? t(detail) : given.detail };
  }
  const known = KNOWN[given.title];
  return known ? { title: t(known.title), detail: t(known.detail) } : given;
}
