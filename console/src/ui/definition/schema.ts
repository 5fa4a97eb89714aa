/** Reading a JSON Schema along a path: which keys and values are possible there. */

export type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const list = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

function deref(root: Schema, schema: Schema): Schema {
  let current = schema;
  for (let hops = 0; typeof current.$ref === 'string' && hops < 8; hops += 1) {
    const { $ref, ...beside } = current;
    let found: unknown = root;
    for (const part of ($ref as string).replace(/^#\//, '').split('/'))
      found = isSchema(found) ? found[part] : undefined;
    current = isSchema(found) ? { ...found, ...beside } : beside;
  }
  return current;
}

/** A schema and everything it may be instead. `type` chooses among conditions on a step's type. */
function alternatives(root: Schema, schema: Schema, type?: string): Schema[] {
  const own = deref(root, schema);
  const more = [...list(own.oneOf), ...list(own.anyOf)];
  for (const each of list(own.allOf)) {
    const condition = isSchema(each.if) ? JSON.stringify(each.if) : '';
    if (!isSchema(each.then)) more.push(each);
    else if (!type || matches(condition, type)) more.push(each.then);
  }
  return [own, ...more.flatMap((each) => alternatives(root, each, type))];
}

/** The conditions of the schema spell a type letter by letter, as `[Hh][Tt]…`. */
function matches(condition: string, type: string): boolean {
  return condition
    .replace(/\[(\w)\w\]/g, '$1')
    .toLowerCase()
    .includes(type);
}

const properties = (schema: Schema): Record<string, Schema> =>
  isSchema(schema.properties) ? (schema.properties as Record<string, Schema>) : {};

/** All that may stand at a path. */
export function schemasAt(root: Schema, path: readonly string[], type?: string): Schema[] {
  let here = alternatives(root, root, type);
  for (const key of path)
    here = here.flatMap((schema) => {
      const next =
        key === '[]'
          ? schema.items
          : (properties(schema)[key] ??
            properties(schema)[key.replace(/_(\w)/g, (_, c: string) => c.toUpperCase())] ??
            schema.additionalProperties);
      return isSchema(next) ? alternatives(root, next, type) : [];
    });
  return here;
}

export interface Offer {
  label: string;
  detail?: string;
  info?: string;
}

const typeOf = (schema: Schema): string =>
  Array.isArray(schema.enum)
    ? schema.enum.map(String).join(' | ').slice(0, 40)
    : [schema.type].flat().filter(Boolean).join(' | ');

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The keys that a mapping at a path may have, without old spellings. */
export function keysOf(root: Schema, schemas: readonly Schema[]): Offer[] {
  const offers = new Map<string, Offer>();
  for (const schema of schemas)
    for (const [label, raw] of Object.entries(properties(schema))) {
      if (label.includes('_') || label === '$schema') continue;
      const property = deref(root, raw);
      if (property.deprecated || /^#\/\$defs\/\w+\/properties\//.test(String(raw.$ref ?? '')))
        continue;
      if (offers.has(label) && !property.description) continue;
      offers.set(label, { label, detail: typeOf(property), info: textOf(property.description) });
    }
  return [...offers.values()];
}

/** The values that are named at a path. */
export function valuesOf(schemas: readonly Schema[]): Offer[] {
  const labels = new Set<string>();
  for (const schema of schemas) {
    for (const value of Array.isArray(schema.enum) ? schema.enum : []) labels.add(String(value));
    if ([schema.type].flat().includes('boolean'))
      for (const each of ['true', 'false']) labels.add(each);
    for (const value of Array.isArray(schema.examples) ? schema.examples : [])
      if (typeof value !== 'object') labels.add(String(value));
    if (schema.default !== undefined && typeof schema.default !== 'object')
      labels.add(String(schema.default));
  }
  return [...labels].map((label) => ({ label }));
}
