/** The icon of a step's type. */
import { IconCode, IconHelp, IconPuzzle, IconWorld } from '../icons';

const ICONS = { http: IconWorld, local: IconCode, external_task: IconPuzzle };

export function StepIcon({ type, size = 16 }: { type: string; size?: number }) {
  const Icon = ICONS[type as keyof typeof ICONS] ?? IconHelp;
  return <Icon size={size} stroke={1.75} aria-hidden="true" />;
}
