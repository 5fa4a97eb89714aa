/** Opens the palette from anywhere. */
import { createSwitch } from '@/settings/switch';

export const paletteSwitch = createSwitch();
export const openPalette = () => paletteSwitch.set(true);
