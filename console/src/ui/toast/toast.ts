/** Short messages about one's own actions. Errors stay until they are closed. */
import { notifications } from '@mantine/notifications';
import { asProblem } from '@/api/problem';
import { t } from '@/i18n/t';
import { problemText } from '../state/problemText';

const SHOWN_MS = 4_000;

export function toastDone(message: string) {
  notifications.show({
    message,
    autoClose: SHOWN_MS,
    withBorder: true,
    closeButtonProps: { 'aria-label': t('common.close') },
  });
}

export function toastProblem(error: unknown) {
  const problem = asProblem(error);
  const { title, detail } = problemText(problem);
  notifications.show({
    title,
    message: [detail, problem.code].filter(Boolean).join(' · '),
    color: 'danger',
    autoClose: false,
    withBorder: true,
    closeButtonProps: { 'aria-label': t('common.close') },
  });
}
