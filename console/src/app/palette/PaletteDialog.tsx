/** The palette: pages, pasted ids, what the server finds, and actions of the open page. */
import { Modal } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { searchQuery } from '@/api/queries/search';
import { t } from '@/i18n/t';
import { IconSearch } from '@/ui/icons';
import { Status } from '@/ui/status/Status';
import { type Choice, choices } from './choices';
import classes from './palette.module.css';

const TYPING_MS = 150;

export default function PaletteDialog({ close }: { close: () => void }) {
  const router = useRouter();
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text.trim(), TYPING_MS);
  const found = useQuery(searchQuery(asked));
  const list = choices(text.trim(), found.data ?? [], (path) =>
    router.history.push(router.basepath.replace(/\/$/, '') + path),
  );
  const [at, setAt] = useState(0);
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const current = Math.min(at, list.length - 1);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  });

  const run = (choice: Choice | undefined) => {
    if (!choice) return;
    close();
    choice.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setAt((current + 1) % Math.max(1, list.length));
    else if (event.key === 'ArrowUp') setAt((current - 1 + list.length) % Math.max(1, list.length));
    else if (event.key === 'Enter') run(list[current]);
    else return;
    event.preventDefault();
  };

  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset="12vh"
      centered={false}
      aria-label={t('palette.title')}
    >
      <div className={classes.field}>
        <IconSearch size={16} aria-hidden="true" />
        <input
          data-autofocus
          role="combobox"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={list[current] ? `${id}-${current}` : undefined}
          aria-label={t('palette.title')}
          placeholder={t('palette.placeholder')}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
          autoComplete="off"
          spellCheck={false}
        />
      </div>
      <div
        ref={box}
        id={id}
        role="listbox"
        aria-label={t('palette.results')}
        className={classes.list}
      >
        {list.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={choice.key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={classes.choice}
            onClick={() => run(choice)}
            onPointerMove={() => setAt(index)}
          >
            <span className={classes.kind}>{choice.kind}</span>
            <span className={classes.label}>{choice.label}</span>
            {choice.status && <Status value={choice.status} />}
            {choice.hint && <kbd className={classes.hint}>{choice.hint}</kbd>}
          </div>
        ))}
        {list.length === 0 && <div className={classes.none}>{t('palette.none')}</div>}
      </div>
    </Modal>
  );
}
