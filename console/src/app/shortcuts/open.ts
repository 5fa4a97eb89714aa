/** Opens the help from anywhere. */
import { createSwitch } from '@/ui/keys/switch';

export const helpSwitch = createSwitch();
export const openHelp = () => helpSwitch.set(true);
