/** The navigation: sections and their pages, in the order of the drawing. */
import type { Icon } from '@tabler/icons-react';
import type { PlainKey } from '@/i18n/t';
import {
  IconActivity,
  IconBellRinging,
  IconBolt,
  IconCalendarRepeat,
  IconInbox,
  IconListDetails,
  IconPuzzle,
  IconSchema,
  IconSend,
  IconServer,
  IconStack2,
  IconTarget,
  IconUsers,
} from '@/ui/icons';

export interface NavItem {
  to: string;
  label: PlainKey;
  icon: Icon;
  /** The second key after `g`. */
  go: string;
}

export interface NavSection {
  label?: PlainKey;
  items: NavItem[];
}

export const NAV: NavSection[] = [
  {
    items: [
      { to: '/', label: 'shell.overview', icon: IconActivity, go: 'o' },
      { to: '/workflows', label: 'shell.workflows', icon: IconSchema, go: 'w' },
      { to: '/executions', label: 'shell.executions', icon: IconListDetails, go: 'e' },
      { to: '/dlq', label: 'shell.dlq', icon: IconInbox, go: 'd' },
      { to: '/triggers', label: 'shell.triggers', icon: IconBolt, go: 't' },
    ],
  },
  {
    label: 'shell.tasks',
    items: [
      { to: '/tasks', label: 'shell.externalTasks', icon: IconPuzzle, go: 'x' },
      { to: '/workers', label: 'shell.workers', icon: IconUsers, go: 'k' },
      { to: '/scheduled', label: 'shell.scheduled', icon: IconCalendarRepeat, go: 's' },
    ],
  },
  {
    label: 'shell.system',
    items: [
      { to: '/alerts', label: 'shell.alerts', icon: IconBellRinging, go: 'a' },
      { to: '/targets', label: 'shell.targets', icon: IconTarget, go: 'r' },
      { to: '/channels', label: 'shell.channels', icon: IconSend, go: 'c' },
      { to: '/bulk', label: 'shell.bulk', icon: IconStack2, go: 'b' },
      { to: '/nodes', label: 'shell.nodes', icon: IconServer, go: 'n' },
    ],
  },
];
