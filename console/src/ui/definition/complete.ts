/** Completion in a definition: keys and values of the schema, ids of steps, and what `${…}` may name. */
import type { Completion, CompletionContext, CompletionSource } from '@codemirror/autocomplete';
import { keysOf, type Offer, type Schema, schemasAt, valuesOf } from './schema';
import { type Spot, spotAt } from './spot';
import { entryOf, isJson, plainValue, readYaml, type YamlNode } from './yaml';

const REFERENCE = /\$\{([^}]*)$/;
const NAMES = /[\w.$[\]"'-]*$/;

function stepNodes(source: string): YamlNode[] {
  const steps = entryOf(readYaml(source), 'steps')?.value;
  return steps?.kind === 'list' ? steps.items : [];
}

const textAt = (node: YamlNode, key: string): string | undefined => {
  const value = plainValue(entryOf(node, key)?.value ?? null);
  return typeof value === 'string' ? value : undefined;
};

export function stepIds(source: string): string[] {
  return stepNodes(source).flatMap((step) => textAt(step, 'id') ?? []);
}

/** The type of the step in which a position lies. */
function typeAt(source: string, position: number): string | undefined {
  const around = stepNodes(source).findLast((step) => step.from <= position);
  return around && textAt(around, 'type')?.toLowerCase();
}

const used = (source: string, pattern: RegExp): string[] => [
  ...new Set([...source.matchAll(pattern)].map((found) => found[1]!)),
];

/** What may stand between `${` and `}`. */
export function references(source: string): string[] {
  const mapped = stepNodes(source).flatMap((step) => {
    const config = entryOf(step, 'config')?.value;
    const mapping = entryOf(step, 'outputMapping') ?? entryOf(config, 'outputMapping');
    return mapping?.value?.kind === 'map' ? mapping.value.entries.map((entry) => entry.key) : [];
  });
  return [
    'input',
    ...used(source, /\$\{input\.([\w.]+)[\s}]/g).map((name) => `input.${name}`),
    ...stepIds(source).flatMap((id) => [`steps.${id}.output`, `steps.${id}.output.body`]),
    ...[...new Set(mapped)].map((name) => `workflow.context.${name}`),
    'execution.id',
    'workflow.id',
    'trigger.type',
    'trigger.scheduled_at',
    'trigger.cycle',
    'step.attempt',
    ...used(source, /\$\{secret\.(\w+)\}/g).map((name) => `secret.${name}`),
    'secret.',
    'callback.url',
    'callback.token',
  ];
}

const NEEDS_STEP = new Set(['needs', 'compensate']);

function offersAt(root: Schema, spot: Spot, source: string, position: number): Offer[] {
  const type = typeAt(source, position);
  const last = spot.path.at(-1) === '[]' ? spot.path.at(-2) : spot.path.at(-1);
  if (last && NEEDS_STEP.has(last) && spot.path[0] === 'steps')
    return stepIds(source).map((label) => ({ label }));
  const schemas = schemasAt(root, spot.path, type);
  return spot.kind === 'key' ? keysOf(root, schemas) : valuesOf(schemas);
}

export function completeDefinition(root: Schema | undefined): CompletionSource {
  return (context: CompletionContext) => {
    const source = context.state.doc.toString();
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const reference = REFERENCE.exec(before);
    if (reference) {
      const typed = NAMES.exec(reference[1]!)?.[0] ?? '';
      return {
        from: context.pos - typed.length,
        options: references(source).map((label) => ({ label, type: 'variable' })),
        validFor: /^[\w.]*$/,
      };
    }
    if (!root || /#/.test(before.replace(/"[^"]*"|'[^']*'/g, ''))) return null;
    const spot = spotAt(source, context.pos);
    if (!context.explicit && spot.typed === '' && spot.kind === 'key') return null;
    const json = isJson(source);
    const options = offersAt(root, spot, source, context.pos).map(
      (offer): Completion => ({
        ...offer,
        type: spot.kind === 'key' ? 'property' : 'enum',
        apply: spot.kind === 'key' && !json ? `${offer.label}: ` : offer.label,
      }),
    );
    return options.length > 0 ? { from: spot.from, options, validFor: /^[\w-]*$/ } : null;
  };
}
