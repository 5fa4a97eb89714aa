declare module '@tabler/icons-react/dist/esm/icons/*.mjs' {
  import type { Icon } from '@tabler/icons-react';

  const icon: Icon;
  export default icon;
}
declare module '*.module.css' {
  const classes: Record<string, string>;
  export default classes;
}
