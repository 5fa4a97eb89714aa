/** Mantine's theme: sizes and defaults; its colours are the tokens of tokens.css. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const shades = (name: string): MantineColorsTuple =>
  ['bg', 'bg', 'bg', 'text', 'text', 'bar', 'bar', 'bar', 'bar', 'bar'].map(
    (part) => `var(--${name}-${part})`,
  ) as unknown as MantineColorsTuple;

const CONTROL = 'xs';
/** What lies over the page under a dialog: the token, not Mantine's own black. */
const SCRIM = { color: 'var(--scrim)', backgroundOpacity: 1, blur: 0 };

/** The theme, with the word for closing a dialog. Defaults of parts are plain objects: the parts' own `extend` would load every part with the first page. */
export const themeFor = (close: string) =>
  createTheme({
    primaryColor: 'accent',
    primaryShade: 6,
    colors: { accent: shades('accent'), danger: shades('failed') },
    fontFamily: 'var(--font)',
    fontFamilyMonospace: 'var(--mono)',
    fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '16px', xl: '20px' },
    spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
    defaultRadius: 'var(--radius-control)',
    radius: { xs: '4px', sm: '4px', md: '6px', lg: '6px', xl: '32px' },
    headings: { fontFamily: 'var(--font)', fontWeight: '600' },
    cursorType: 'pointer',
    respectReducedMotion: true,
    components: {
      Button: { defaultProps: { size: CONTROL } },
      ActionIcon: { defaultProps: { size: 28, variant: 'subtle', color: 'gray' } },
      Input: { defaultProps: { size: CONTROL } },
      InputWrapper: { defaultProps: { size: CONTROL } },
      TextInput: { defaultProps: { size: CONTROL } },
      PasswordInput: { defaultProps: { size: CONTROL } },
      NumberInput: { defaultProps: { size: CONTROL } },
      Textarea: { defaultProps: { size: CONTROL } },
      Select: { defaultProps: { size: CONTROL } },
      MultiSelect: { defaultProps: { size: CONTROL } },
      Autocomplete: { defaultProps: { size: CONTROL } },
      Checkbox: { defaultProps: { size: CONTROL } },
      Radio: { defaultProps: { size: CONTROL } },
      Switch: { defaultProps: { size: 'sm' } },
      SegmentedControl: { defaultProps: { size: CONTROL } },
      Tabs: { defaultProps: { keepMounted: false } },
      Tooltip: {
        defaultProps: { openDelay: 300, transitionProps: { duration: 100 }, withArrow: false },
      },
      Menu: {
        defaultProps: { shadow: 'md', position: 'bottom-end', transitionProps: { duration: 100 } },
      },
      Popover: {
        defaultProps: { shadow: 'md', transitionProps: { duration: 100 } },
      },
      Modal: {
        defaultProps: {
          radius: 'md',
          centered: true,
          transitionProps: { duration: 120 },
          overlayProps: SCRIM,
          closeButtonProps: { size: 28, 'aria-label': close },
        },
      },
      Drawer: {
        defaultProps: {
          transitionProps: { duration: 120 },
          overlayProps: SCRIM,
          closeButtonProps: { 'aria-label': close },
        },
      },
    },
  });

/** tokens.css sets the variables itself, for both schemes. */
export const resolver: CSSVariablesResolver = () => ({ variables: {}, light: {}, dark: {} });
