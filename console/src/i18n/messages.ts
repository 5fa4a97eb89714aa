/** The shape of messages: a text, or a text per plural form. */

/** A text with `{name}` places; or one per plural form of `{count}`. */
export type Message = string | { readonly one: string; readonly other: string };

/** The translation of an area: the same keys, each a text or plural forms. */
export type Translation<Area> = {
  readonly [Key in keyof Area]: string | { readonly one?: string; readonly other: string };
};

/** The names in braces of a text. */
type Places<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Places<Rest>
  : never;

type PlacesOf<M> = M extends string
  ? Places<M>
  : M extends { one: infer One; other: infer Other }
    ? Places<One> | Places<Other> | 'count'
    : never;

/** What a message must be given: nothing, or a value for each of its places. */
export type Params<M, Value> = [PlacesOf<M>] extends [never]
  ? []
  : [params: { [Name in PlacesOf<M>]: Value }];
