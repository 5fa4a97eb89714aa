/** `t('key', {…})`: the text of a key in the chosen language, with numbers and plurals by Intl. */
import { createElement, Fragment, type ReactNode } from 'react';
import { settings } from '@/settings/settings';
import { type EnglishMessages, en } from './en';
import type { Message, Params } from './messages';

export type Key = keyof EnglishMessages;
/** Keys whose texts have no places: names of pages and the like. */
export type PlainKey = {
  [K in Key]: Params<EnglishMessages[K], never> extends [] ? K : never;
}[Key];
export type Language = 'en' | 'zh-TW';
type Texts = Record<string, Message | { other: string; one?: string }>;

const loaded: Partial<Record<Language, Texts>> = { en };

/** Loads the texts of a language; English is always there. */
export async function loadLanguage(language: Language): Promise<void> {
  if (!loaded[language]) loaded[language] = (await import('./zh-TW')).zhTW;
  document.documentElement.lang = language;
}

export function language(): Language {
  const wanted = settings().language;
  return loaded[wanted] ? wanted : 'en';
}

const plurals: Record<string, Intl.PluralRules> = {};
const numbers: Record<string, Intl.NumberFormat> = {};

/** A whole or broken number in the language's way of writing. */
export function formatNumber(value: number, digits?: number): string {
  const name = `${language()}/${digits ?? ''}`;
  numbers[name] ??= new Intl.NumberFormat(language(), {
    maximumFractionDigits: digits ?? 3,
    minimumFractionDigits: digits ?? 0,
  });
  return numbers[name].format(value);
}

function textOf(key: string, count: unknown): string {
  const message = loaded[language()]?.[key] ?? (en as Texts)[key];
  if (message === undefined) return key;
  if (typeof message === 'string') return message;
  plurals[language()] ??= new Intl.PluralRules(language());
  const form = plurals[language()]!.select(Number(count));
  return (form === 'one' ? message.one : undefined) ?? message.other;
}

type TextValue = string | number;

export function t<K extends Key>(key: K, ...given: Params<EnglishMessages[K], TextValue>): string {
  const params = (given[0] ?? {}) as Record<string, TextValue>;
  return textOf(key, params.count).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    return typeof value === 'number' ? formatNumber(value) : (value ?? '');
  });
}

/** As `t`, with elements at the places: a link or an id inside a sentence. */
export function rich<K extends Key>(
  key: K,
  ...given: Params<EnglishMessages[K], ReactNode>
): ReactNode {
  const params = (given[0] ?? {}) as Record<string, ReactNode>;
  return textOf(key, params.count)
    .split(/(\{\w+\})/)
    .map((part, index) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      const value = name ? params[name] : part;
      return createElement(
        Fragment,
        { key: index },
        typeof value === 'number' ? formatNumber(value) : value,
      );
    });
}

/** The text of a key that is put together, such as a status; the word itself when there is none. */
export function word(prefix: string, name: string): string {
  const key = `${prefix}.${name}`;
  return key in en ? textOf(key, undefined) : name;
}
