/** A button that copies a text and says so. */
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { t } from '@/i18n/t';
import { IconCheck, IconCopy } from '../icons';
import { copyToClipboard } from './clipboard';

const SAID_MS = 1_500;

export function useCopy(): [copied: boolean, copy: (text: string) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied, async (text) => setCopied(await copyToClipboard(text))];
}

interface CopyProps {
  text: string | (() => string);
  /** What is copied, for the tip and for readers. */
  label?: string;
  /** A button with the label as its text instead of an icon. */
  withText?: boolean;
  size?: number;
}

export function CopyButton({ text, label = t('common.copy'), withText, size = 22 }: CopyProps) {
  const [copied, copy] = useCopy();
  const Icon = copied ? IconCheck : IconCopy;
  const said = copied ? t('common.copied') : label;
  const run = (event: { stopPropagation: () => void }) => {
    event.stopPropagation();
    copy(typeof text === 'string' ? text : text());
  };
  if (withText)
    return (
      <Button variant="default" leftSection={<Icon size={14} />} onClick={run}>
        {said}
      </Button>
    );
  return (
    <Tooltip label={said}>
      <ActionIcon size={size} aria-label={said} onClick={run}>
        <Icon size={Math.round(size * 0.6)} stroke={1.5} />
      </ActionIcon>
    </Tooltip>
  );
}
