/** Mantine's theme: sizes and defaults; its colours are the tokens of tokens.css. */
import {
  ActionIcon,
  Button,
  Checkbox,
  type CSSVariablesResolver,
  createTheme,
  Drawer,
  Input,
  type MantineColorsTuple,
  Menu,
  Modal,
  Popover,
  SegmentedControl,
  Switch,
  Tabs,
  Tooltip,
} from '@mantine/core';

const shades = (name: string): MantineColorsTuple =>
  ['bg', 'bg', 'bg', 'text', 'text', 'bar', 'bar', 'bar', 'bar', 'bar'].map(
    (part) => `var(--${name}-${part})`,
  ) as unknown as MantineColorsTuple;

const CONTROL = 'xs';
/** What lies over the page under a dialog: the token, not Mantine's own black. */
const SCRIM = { color: 'var(--scrim)', backgroundOpacity: 1, blur: 0 };

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: 6,
  colors: { accent: shades('accent'), danger: shades('failed') },
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '16px', xl: '20px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  defaultRadius: 'var(--radius-control)',
  radius: { xs: '4px', sm: '4px', md: '6px', lg: '6px', xl: '6px' },
  headings: { fontFamily: 'var(--font)', fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: Button.extend({ defaultProps: { size: CONTROL } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { size: 28, variant: 'subtle', color: 'gray' } }),
    Input: Input.extend({ defaultProps: { size: CONTROL } }),
    InputWrapper: Input.Wrapper.extend({ defaultProps: { size: CONTROL } }),
    TextInput: { defaultProps: { size: CONTROL } },
    PasswordInput: { defaultProps: { size: CONTROL } },
    NumberInput: { defaultProps: { size: CONTROL } },
    Textarea: { defaultProps: { size: CONTROL } },
    Select: { defaultProps: { size: CONTROL } },
    MultiSelect: { defaultProps: { size: CONTROL } },
    Autocomplete: { defaultProps: { size: CONTROL } },
    Checkbox: Checkbox.extend({ defaultProps: { size: CONTROL } }),
    Radio: { defaultProps: { size: CONTROL } },
    Switch: Switch.extend({ defaultProps: { size: 'sm' } }),
    SegmentedControl: SegmentedControl.extend({ defaultProps: { size: CONTROL } }),
    Tabs: Tabs.extend({ defaultProps: { keepMounted: false } }),
    Tooltip: Tooltip.extend({
      defaultProps: { openDelay: 300, transitionProps: { duration: 100 }, withArrow: false },
    }),
    Menu: Menu.extend({
      defaultProps: { shadow: 'md', position: 'bottom-end', transitionProps: { duration: 100 } },
    }),
    Popover: Popover.extend({
      defaultProps: { shadow: 'md', transitionProps: { duration: 100 } },
    }),
    Modal: Modal.extend({
      defaultProps: {
        radius: 'md',
        centered: true,
        transitionProps: { duration: 120 },
        overlayProps: SCRIM,
        closeButtonProps: { size: 28 },
      },
    }),
    Drawer: Drawer.extend({
      defaultProps: { transitionProps: { duration: 120 }, overlayProps: SCRIM },
    }),
  },
});

/** tokens.css sets the variables itself, for both schemes. */
export const resolver: CSSVariablesResolver = () => ({ variables: {}, light: {}, dark: {} });
