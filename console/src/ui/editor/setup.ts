/** What every code editor here has: look, folding, search, keys, nonce. */
import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { nonce } from '@/nonce';

export type CodeLanguage = 'json' | 'yaml' | 'text';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: [tags.bool, tags.null, tags.keyword], color: 'var(--code-atom)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
]);

const look = EditorView.theme({
  '&': { backgroundColor: 'transparent', color: 'var(--text)', fontSize: '12px' },
  '&.cm-focused': { outline: '2px solid var(--accent-bar)', outlineOffset: '-1px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)', padding: '6px 0' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
    { backgroundColor: 'var(--accent-bg)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--sunken)',
    border: '1px solid var(--line)',
    color: 'var(--muted)',
  },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--text)' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-textfield': {
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
    color: 'var(--text)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--retrying-bg)' },
  '.cm-searchMatch-selected': { outline: '1px solid var(--retrying-bar)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--accent-bg)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-bg)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line-strong)',
    color: 'var(--text)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-bg)',
    color: 'var(--accent-text)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--failed-bar)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--failed-bar)',
  },
  '.cm-changedLine, &.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--diff-new)' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--diff-gone)' },
  '&.cm-merge-b .cm-changedText, .cm-changedText': {
    background: 'var(--diff-new-strong)',
  },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'var(--diff-gone-strong)',
  },
  '.cm-collapsedLines': {
    background: 'var(--sunken)',
    color: 'var(--muted)',
  },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"' },
});

function languageOf(name: CodeLanguage): Extension {
  if (name === 'json') return json();
  return name === 'yaml' ? yaml() : [];
}

export function codeSetup(options: {
  language: CodeLanguage;
  readOnly?: boolean;
  label: string;
  wrap?: boolean;
}): Extension[] {
  const shared = [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ 'aria-label': options.label, tabindex: '0' }),
    look,
    syntaxHighlighting(colours),
    languageOf(options.language),
    lineNumbers(),
    foldGutter(),
    bracketMatching(),
    search(),
    highlightSelectionMatches(),
    keymap.of([...searchKeymap, ...foldKeymap]),
    options.wrap ? EditorView.lineWrapping : [],
  ];
  if (options.readOnly)
    return [...shared, EditorState.readOnly.of(true), EditorView.editable.of(false)];
  return [
    ...shared,
    history(),
    drawSelection(),
    indentOnInput(),
    closeBrackets(),
    highlightActiveLine(),
    // Tab leaves the editor after Escape, so that the keyboard is never caught.
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
  ];
}
