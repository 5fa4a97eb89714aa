// Checks the recorded messages for Teams with Microsoft's own renderer of Adaptive Cards: what it would not show, or
// would complain about, must not be sent. Needs the packages that `scripts/check-cards` installs.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [, , packages, ...files] = process.argv;
const require = createRequire(join(packages, 'package.json'));
const { JSDOM } = require('jsdom');
const { window } = new JSDOM('<body></body>');
for (const name of Object.getOwnPropertyNames(window)) {
  if (/^(HTML|SVG|DOM|Node|Element|Event|Mouse|Keyboard)/.test(name)) globalThis[name] ??= window[name];
}
// The renderer writes texts in a way that jsdom does not know.
Object.defineProperty(window.HTMLElement.prototype, 'innerText', {
  get() { return this.textContent; },
  set(text) { this.textContent = text; },
});
globalThis.window = window;
globalThis.document = window.document;
const cards = require('adaptivecards/dist/adaptivecards.js');

// Texts are shown as they are.
cards.AdaptiveCard.onProcessMarkdown = (text, result) => {
  result.outputHtml = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\\', '');
  result.didProcess = true;
};

/** What is wrong with a card, and what people see of it. */
function check(card) {
  const context = new cards.SerializationContext(cards.Versions.v1_5);
  const adaptive = new cards.AdaptiveCard();
  adaptive.parse(card, context);
  const wrong = [];
  for (let at = 0; at < context.eventCount; at += 1) wrong.push(context.getEventAt(at).message);
  for (const event of adaptive.validateProperties().validationEvents) wrong.push(event.message);
  const shown = adaptive.render();
  return { wrong, text: shown.textContent, buttons: [...shown.querySelectorAll('button')].map((it) => it.textContent) };
}

let checked = 0;
for (const file of files) {
  for (const text of readFileSync(file, 'utf8').split(/\n(?=\{\n)/)) {
    const card = JSON.parse(text).attachments[0].content;
    const { wrong, text: shown, buttons } = check(card);
    const title = card.body[0].items[0].text.replaceAll('\\', '');
    if (!shown.includes(title.split(/[:：]/)[0])) wrong.push(`the title is not shown: ${shown}`);
    if (buttons.length !== card.actions.length) wrong.push(`${buttons.length} of ${card.actions.length} buttons are shown`);
    if (wrong.length > 0) {
      console.error(`${file}: ${title}: ${wrong.join('; ')}`);
      process.exitCode = 1;
    }
    checked += 1;
  }
}
// A checker that finds nothing is worth nothing.
const bad = check({ type: 'AdaptiveCard', version: '1.4', body: [{ type: 'TextBlok', text: 'x' }], actions: [{ type: 'Action.OpenUrl', title: 'x' }] });
if (bad.wrong.length === 0) {
  console.error('the renderer accepts a card that is wrong');
  process.exitCode = 1;
}
console.log(`${checked} cards are shown without a complaint`);
