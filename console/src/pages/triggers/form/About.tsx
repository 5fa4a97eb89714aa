/** What people call a trigger, and what it is for. */
import { Textarea, TextInput } from '@mantine/core';
import { t } from '@/i18n/t';
import type { FieldErrors } from '@/ui/form/fieldErrors';
import { Section } from './Section';

interface AboutProps {
  draft: { name: string; description: string };
  change: (part: { name?: string; description?: string }) => void;
  errors: FieldErrors;
}

export function About({ draft, change, errors }: AboutProps) {
  return (
    <Section
      title={t('trigger.about')}
      summary={draft.name || t('trigger.noName')}
      wrong={errors.has('name', 'description')}
    >
      <TextInput
        label={t('trigger.name')}
        value={draft.name}
        error={errors.at('name')}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <Textarea
        label={t('trigger.description')}
        autosize
        minRows={2}
        maxRows={8}
        value={draft.description}
        error={errors.at('description')}
        onChange={(event) => change({ description: event.currentTarget.value })}
      />
    </Section>
  );
}
