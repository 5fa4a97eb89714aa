/** What to try about a dead letter. */
export const fixes = {
  'fix.saveAgain': 'Save the workflow again',
  'fix.saveAgainWhy':
    'It was deleted, so nothing of it can run. Save it again, then retry; or delete this letter.',
  'fix.sayJson': 'Let the sender say that it sends JSON',
  'fix.sayJsonWhy':
    'The webhook read the body as a form, but it looks like JSON. The sender must set Content-Type: application/json. Retry with an edited input.',
  'fix.undo': 'Undo the step by hand',
  'fix.undoWhy':
    'A completed step could not be compensated: its effect is still there. Put it right at the target, then delete this letter.',
  'fix.serverDied': 'Find out why the server died',
  'fix.serverDiedWhy':
    'The server stopped five times while this step was running. Look at its log and memory before you retry.',
  'fix.smaller': 'Make the outputs smaller, or split the workflow',
  'fix.smallerWhy':
    'The execution’s history reached its limit: 9,900 events, or 10 MiB of values. Save a smaller definition, then retry from the start.',
  'fix.targetUp': 'Check that the target is up',
  'fix.targetUpWhy':
    'Nothing answered at the address. Check the service, the port and the firewall.',
  'fix.moreTime': 'Give the target more time',
  'fix.moreTimeWhy':
    'It accepted the connection but did not answer in time. Raise the step’s `timeout`, or let the target answer first and work afterwards.',
  'fix.targetLog': 'Look at the target’s log',
  'fix.targetLogWhy':
    'It closed the connection in the middle: a crash, a restart or a proxy limit.',
  'fix.hostName': 'Check the host name',
  'fix.hostNameWhy': 'The name in the URL could not be resolved.',
  'fix.certificate': 'Check the certificate',
  'fix.certificateWhy':
    'The TLS handshake failed: the certificate may have expired, be self-signed or be for another name.',
  'fix.allow': 'Allow the address, if it is meant',
  'fix.allowWhy':
    'Calls into private networks are refused by default. REFIRE_ALLOW_PRIVATE_TARGETS opens them, all or by list.',
  'fix.redirect': 'Use the final address',
  'fix.redirectWhy':
    'The target answered with a redirect that is not followed. Put the new address into the step’s `url`, or let it follow with `followRedirects`.',
  'fix.less': 'Ask for less, or allow more',
  'fix.lessWhy': 'The answer is larger than the step’s `maxResponseBytes`.',
  'fix.whatAnswers': 'Check what answers there',
  'fix.whatAnswersWhy':
    'The answer was not readable HTTP with a text body. The URL may belong to another kind of service.',
  'fix.secret': 'Set the secret',
  'fix.secretWhy':
    'The server has no value for a secret that the step names. Set it in the server’s environment, start it again, and retry.',
  'fix.template': 'Edit the input or the template',
  'fix.templateWhy':
    'A template could not be filled in from this input. Retry with an edited input, or fix the workflow and retry from the start.',
  'fix.mapping': 'Simplify the mapping, or ask for less',
  'fix.mappingWhy':
    'A path of `outputMapping` is too costly on this answer, or matches too much. Use a plainer path, or let the target answer with less.',
  'fix.local': 'Read the task’s error',
  'fix.localWhy': 'The in-process task returned an error; its message and causes are above.',
  'fix.callback': 'Read what the target called back',
  'fix.callbackWhy':
    'The target accepted the call and called back later that it failed; what it sent is above.',
  'fix.serverLog': 'Look at the server’s log',
  'fix.serverLogWhy': 'The engine could not carry out the step.',
  'fix.worker': 'Read the worker’s error',
  'fix.workerWhy':
    'The worker that did the task said that it failed; its message and stack trace are above.',
  'fix.noWorker': 'Check that workers ask for this task type',
  'fix.noWorkerWhy':
    'The task was not done within its `timeout`. If no worker had fetched it, none may be running; else it needs more time.',
  'fix.workerLog': 'Look at the worker’s log',
  'fix.workerLogWhy':
    'The worker fetched the task and was not heard of again: it may have crashed, or takes longer than `lockDuration` without heartbeats.',
  'fix.input': 'Edit the input and retry',
  'fix.inputWhy':
    'The target did not accept the request’s content. Compare the input with what the target expects; its answer may name the field.',
  'fix.credentials': 'Check the credentials',
  'fix.credentialsWhy': 'The target refused them. Renew the secret or its permissions, then retry.',
  'fix.address': 'Check the address and the ids',
  'fix.addressWhy': 'The target does not know what was asked for: the URL, or an id in the input.',
  'fix.conflict': 'See whether it is done already',
  'fix.conflictWhy': 'The target reports a conflict: an earlier attempt may have succeeded.',
  'fix.slow': 'Slow down',
  'fix.slowWhy':
    'The target limits the rate. Lower the workflow’s `concurrency` or set a `rateLimit`, or allow longer delays.',
  'fix.recover': 'Wait for the target to recover',
  'fix.recoverWhy':
    'The target reports an error of its own. Look at its status or log, then retry.',
  'fix.response': 'Read the response',
  'fix.responseWhy':
    'The status is not among the expected ones. If it is fine, add it to the step’s `expectedStatuses`.',
  'fix.later': 'Retry once the target is healthy',
  'fix.laterNone':
    'The policy allows no automatic retries. If the target has recovered, retry from the failed step; from the start if completed steps were undone.',
  'fix.laterTime':
    'The policy’s time limit was over before all retries were made. If the target has recovered, retry from the failed step; from the start if completed steps were undone.',
  'fix.laterAll':
    'Every automatic retry failed. If the target has recovered, retry from the failed step; from the start if completed steps were undone.',
} as const;
