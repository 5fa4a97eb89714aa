/** Opens the palette from anywhere. */
import { createSwitch } from '@/ui/keys/switch';

export const paletteSwitch = createSwitch();
export const openPalette = () => paletteSwitch.set(true);
