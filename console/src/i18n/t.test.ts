import { afterEach, describe, expect, it } from 'vitest';
import { changeSettings } from '@/settings/settings';
import { loadLanguage, rich, t, word } from './t';

afterEach(() => changeSettings({ language: 'en' }));

describe('t', () => {
  it('chooses the plural form and writes numbers', () => {
    changeSettings({ language: 'en' });
    expect(t('common.lastDays', { count: 1 })).toBe('Last day');
    expect(t('common.lastDays', { count: 12_000 })).toBe('Last 12,000 days');
  });

  it('speaks the chosen language once it is there', async () => {
    await loadLanguage('zh-TW');
    changeSettings({ language: 'zh-TW' });
    expect(t('common.lastDays', { count: 7 })).toBe('最近 7 天');
    expect(word('status', 'dlq')).toBe('死信');
  });

  it('leaves unknown words as they are', () => {
    expect(word('status', 'from_the_future')).toBe('from_the_future');
  });

  it('never reads what it is given as a text with places', () => {
    expect(t('common.wrongFilter', { what: '{what} <b>' })).toBe('Not a filter: {what} <b>');
    expect(rich('common.wrongFilter', { what: '{x}' })).toHaveLength(3);
  });
});
