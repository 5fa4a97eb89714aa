/** The words for a problem: the server's, or ours where it never answered. */
import { type ApiProblem, UNREACHABLE, UNREADABLE } from '@/api/problem';
import { t } from '@/i18n/t';

export function problemText(problem: ApiProblem): { title: string; detail: string } {
  if (problem.code === UNREACHABLE)
    return { title: t('common.unreachable'), detail: t('common.unreachableText') };
  if (problem.code === UNREADABLE)
    return { title: t('common.unreadable'), detail: problem.problem.detail };
  return { title: problem.problem.title, detail: problem.problem.detail };
}
