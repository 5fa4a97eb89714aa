/**
 * A definition's text, YAML or JSON, as a tree that knows where everything stands. It is read while it
 * is being typed, so what cannot be understood is left out instead of refused: judging is the server's.
 */
import { yamlLanguage } from '@codemirror/lang-yaml';
import { parseExact } from '@/api/exact';

interface Place {
  from: number;
  to: number;
}
export interface YamlEntry extends Place {
  key: string;
  /** Where the key ends, before its colon. */
  keyTo: number;
  value: YamlNode | null;
}
export interface YamlMap extends Place {
  kind: 'map';
  flow: boolean;
  entries: YamlEntry[];
}
export interface YamlList extends Place {
  kind: 'list';
  flow: boolean;
  items: YamlNode[];
}
export interface YamlScalar extends Place {
  kind: 'scalar';
  text: string;
  quoted: boolean;
}
export type YamlNode = YamlMap | YamlList | YamlScalar;

type SyntaxNode = ReturnType<typeof yamlLanguage.parser.parse>['topNode'];

const VALUES =
  /^(Literal|QuotedLiteral|BlockLiteral|BlockMapping|FlowMapping|BlockSequence|FlowSequence|Anchored|Tagged|Alias)$/;

class Reader {
  private readonly anchors = new Map<string, YamlNode>();
  constructor(private readonly source: string) {}

  private text(place: Place): string {
    return this.source.slice(place.from, place.to);
  }

  /** The first value among a node's children. */
  private inside(node: SyntaxNode): YamlNode | null {
    for (let child = node.firstChild; child; child = child.nextSibling)
      if (VALUES.test(child.name)) return this.value(child);
    return null;
  }

  value(node: SyntaxNode): YamlNode | null {
    switch (node.name) {
      case 'BlockMapping':
      case 'FlowMapping':
        return this.map(node);
      case 'BlockSequence':
      case 'FlowSequence':
        return this.list(node);
      case 'Anchored': {
        const inner = this.inside(node);
        const anchor = node.getChild('Anchor');
        if (inner && anchor) this.anchors.set(this.text(anchor).slice(1), inner);
        return inner;
      }
      case 'Tagged':
        return this.inside(node);
      case 'Alias':
        return this.anchors.get(this.text(node).slice(1)) ?? null;
      default:
        return this.scalar(node);
    }
  }

  private map(node: SyntaxNode): YamlMap {
    const entries: YamlEntry[] = [];
    for (const pair of node.getChildren('Pair')) {
      const key = pair.getChild('Key');
      const name = key && this.inside(key);
      if (!key || name?.kind !== 'scalar') continue;
      const value = this.inside(pair);
      entries.push({ key: name.text, keyTo: key.to, value, from: pair.from, to: pair.to });
    }
    const flow = node.name === 'FlowMapping';
    const from = flow ? node.from : (entries[0]?.from ?? node.from);
    return { kind: 'map', flow, entries, from, to: node.to };
  }

  private list(node: SyntaxNode): YamlList {
    const items: YamlNode[] = [];
    for (const item of node.getChildren('Item')) {
      const value = this.inside(item);
      if (value) items.push(value);
    }
    return {
      kind: 'list',
      flow: node.name === 'FlowSequence',
      items,
      from: node.from,
      to: node.to,
    };
  }

  private scalar(node: SyntaxNode): YamlScalar {
    const raw = this.text(node);
    const quoted = node.name !== 'Literal';
    return {
      kind: 'scalar',
      text: plainText(raw, node.name),
      quoted,
      from: node.from,
      to: node.to,
    };
  }
}

function plainText(raw: string, name: string): string {
  if (name === 'BlockLiteral') {
    const [, ...lines] = raw.split('\n');
    const indent = Math.min(
      ...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)),
      80,
    );
    return lines.map((line) => line.slice(indent)).join('\n');
  }
  if (raw.startsWith("'")) return raw.slice(1, -1).replaceAll("''", "'");
  if (raw.startsWith('"')) {
    try {
      return JSON.parse(raw) as string;
    } catch {
      return raw.slice(1, -1);
    }
  }
  return raw.replace(/\s*\n\s*/g, ' ');
}

/** The tree of the first document; null for an empty text. */
export function readYaml(source: string): YamlNode | null {
  const document = yamlLanguage.parser.parse(source).topNode.getChild('Document');
  if (!document) return null;
  const reader = new Reader(source);
  for (let child = document.firstChild; child; child = child.nextSibling)
    if (VALUES.test(child.name)) return reader.value(child);
  return null;
}

const NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/;

/** The plain value of a tree; numbers keep their digits. */
export function plainValue(node: YamlNode | null): unknown {
  if (node === null) return null;
  if (node.kind === 'list') return node.items.map(plainValue);
  if (node.kind === 'map')
    return Object.fromEntries(node.entries.map((entry) => [entry.key, plainValue(entry.value)]));
  if (node.quoted) return node.text;
  if (/^(null|~|)$/i.test(node.text)) return null;
  if (/^true$/i.test(node.text)) return true;
  if (/^false$/i.test(node.text)) return false;
  if (!NUMBER.test(node.text)) return node.text;
  try {
    return parseExact(node.text);
  } catch {
    return Number(node.text);
  }
}

export function entryOf(node: YamlNode | null | undefined, key: string): YamlEntry | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key) : undefined;
}

/** Whether a definition's text is JSON, which is then sent as such. */
export function isJson(source: string): boolean {
  if (!source.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(source);
    return true;
  } catch {
    // Flow style of YAML has no quotes; broken JSON does.
    return /^\s*\{\s*"/.test(source);
  }
}
