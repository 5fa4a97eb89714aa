/** How inputs change before a retry: a patch that is laid over each, or a whole input in its place. */
import { parseExact } from '@/api/exact';

export type TransformKind = 'none' | 'merge' | 'template';

export interface Transform {
  kind: TransformKind;
  text: string;
}

/** What is wrong with a text that is to be JSON. */
export function transformProblem({ kind, text }: Transform): string | undefined {
  if (kind === 'none') return undefined;
  if (text.trim() === '') return '';
  try {
    parseExact(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The part of the request, with the text as it was typed. */
export function transformText(transform: Transform): string | undefined {
  return transform.kind === 'none' ? undefined : `{"${transform.kind}":${transform.text}}`;
}
