/** Opens the help from anywhere. */
import { createSwitch } from '@/settings/switch';

export const helpSwitch = createSwitch();
export const openHelp = () => helpSwitch.set(true);
