/** Which message belongs to which field of a form: `daily.time[1]` shows at `daily.time`, `daily`, …. */
import { ApiProblem, type FieldProblem } from '@/api/problem';

function belongs(field: string, name: string): boolean {
  return field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`);
}

const messageOf = ({ message, hint }: FieldProblem) =>
  hint && !message.includes(hint) ? `${message} (${hint})` : message;

export class FieldErrors {
  readonly all: readonly FieldProblem[];
  constructor(...errors: unknown[]) {
    const seen = new Set<string>();
    this.all = errors
      .flatMap((error) => (error instanceof ApiProblem ? error.fields : []))
      .map((each) => ({ ...each, field: each.field.replace(/^settings\./, '') }))
      .filter((each) => {
        const key = `${each.field} ${each.message}`;
        return !seen.has(key) && seen.add(key);
      });
  }
  /** The message at a field, from any of its names. */
  at(...names: string[]): string | undefined {
    const found = this.all.filter((each) => names.some((name) => belongs(each.field, name)));
    return found.length > 0 ? found.map(messageOf).join('; ') : undefined;
  }
  has(...names: string[]): boolean {
    return this.at(...names) !== undefined;
  }
  /** Those that no field of the form shows. */
  besides(names: readonly string[]): FieldProblem[] {
    return this.all.filter((each) => !names.some((name) => belongs(each.field, name)));
  }
}
