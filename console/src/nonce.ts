/** The nonce for style elements: the server writes a fresh one into the page. */
import { setNonce } from 'get-nonce';

export const nonce =
  document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

setNonce(nonce);
