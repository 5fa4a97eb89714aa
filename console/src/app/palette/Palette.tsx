/** ⌘K: its content comes when it is first opened. */
import { lazy, Suspense } from 'react';
import { paletteSwitch } from './open';

const PaletteDialog = lazy(() => import('./PaletteDialog'));

export function Palette() {
  const opened = paletteSwitch.use();
  if (!opened) return null;
  return (
    <Suspense>
      <PaletteDialog close={() => paletteSwitch.set(false)} />
    </Suspense>
  );
}
