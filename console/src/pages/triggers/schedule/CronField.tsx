/** The expression: its reading in words, its fields below it, and the one under the cursor explained. */
import { Button, TextInput } from '@mantine/core';
import { type SyntheticEvent, useRef, useState } from 'react';
import { t, word } from '@/i18n/t';
import { cronParts, namedField, partAt, readPart, TEMPLATES, templateOf } from './cronFields';
import classes from './schedule.module.css';

interface CronFieldProps {
  value: string;
  onChange: (value: string) => void;
  /** What it means, if it is right. */
  words: string | undefined;
  error: string | undefined;
}

export function CronField({ value, onChange, words, error }: CronFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState<number>();
  const parts = cronParts(value);
  const focused = caret === undefined ? undefined : partAt(parts, caret);
  const wrong = namedField(error);
  const track = (event: SyntheticEvent<HTMLInputElement>) =>
    setCaret(event.currentTarget.selectionStart ?? 0);
  const select = (from: number, to: number) => {
    input.current?.focus();
    input.current?.setSelectionRange(from, to);
    setCaret(from);
  };
  const template = templateOf(value);

  return (
    <div className={classes.cron}>
      <div className={classes.expression}>
        <TextInput
          ref={input}
          className={classes.cronInput}
          label={t('trigger.expression')}
          required
          value={value}
          error={error}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            onChange(event.currentTarget.value);
            track(event);
          }}
          onSelect={track}
          onBlur={() => setCaret(undefined)}
        />
        <output className={classes.words} aria-live="polite">
          {error ? '' : words}
        </output>
      </div>
      {parts.length > 0 && (
        <div className={classes.parts}>
          {parts.map((part) => (
            <button
              key={part.field}
              type="button"
              tabIndex={-1}
              className={classes.part}
              data-focused={part.field === focused?.field || undefined}
              data-wrong={part.field === wrong || undefined}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => select(part.from, part.to)}
            >
              <code>{part.text}</code>
              <span>{word('trigger.field', part.field)}</span>
            </button>
          ))}
        </div>
      )}
      <div className={classes.explain} aria-live="polite">
        {focused ? (
          <>
            <strong>{word('trigger.field', focused.field)}</strong> {partWords(focused.text)}
            <span className={classes.allowed}>{word('trigger.allowed', focused.field)}</span>
          </>
        ) : (
          <span className={classes.allowed}>{t('trigger.expressionHint')}</span>
        )}
      </div>
      <div className={classes.templates} role="group" aria-label={t('trigger.templates')}>
        {TEMPLATES.map((each) => (
          <Button
            key={each.name}
            size="compact-sm"
            variant={template === each.name ? 'light' : 'default'}
            aria-pressed={template === each.name}
            onClick={() => onChange(each.expression)}
          >
            {word('trigger.template', each.name)}
          </Button>
        ))}
        <Button
          size="compact-sm"
          variant={template === 'custom' ? 'light' : 'default'}
          aria-pressed={template === 'custom'}
          onClick={() => select(0, value.length)}
        >
          {t('trigger.template.custom')}
        </Button>
      </div>
    </div>
  );
}

function partWords(text: string): string {
  const { form, a, b, step } = readPart(text);
  switch (form) {
    case 'every':
      return t('trigger.part.every');
    case 'step':
      return t('trigger.part.step', { step });
    case 'rangeStep':
      return b
        ? t('trigger.part.rangeStep', { a, b, step })
        : t('trigger.part.fromStep', { a, step });
    case 'range':
      return t('trigger.part.range', { a, b });
    case 'last':
      return a ? t('trigger.part.lastOf', { a }) : t('trigger.part.last');
    case 'nth':
      return t('trigger.part.nth', { a, b });
    case 'near':
      return t('trigger.part.near', { a });
    default:
      return t('trigger.part.value', { a });
  }
}
