/** Lists that are asked again and again can be told to stand still; one switch for the whole page. */
import { createSwitch } from '@/settings/switch';

export const pauseSwitch = createSwitch();
