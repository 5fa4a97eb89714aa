/** Starts the console: styles, nonce, language, providers, router. */
import './nonce';
import './theme/font.css';
import './theme/mantine.css';
import './theme/tokens.css';
import './theme/base.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/App';
import { loadLanguage } from './i18n/t';
import { settings } from './settings/settings';

await loadLanguage(settings().language);
createRoot(document.getElementById('root')!).render(<App />);
