/** The settings of a channel's type. A stored secret is `***`: left alone it stays as it is. */
import { PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import { t, word } from '@/i18n/t';
import type { FieldErrors } from '@/ui/form/fieldErrors';
import { type ChannelDraft, CONFIG, type ConfigField } from './draft';

interface ConfigFieldsProps {
  draft: ChannelDraft;
  errors: FieldErrors;
  change: (config: Record<string, string>) => void;
}

const HIDDEN = '***';

export function ConfigFields({ draft, errors, change }: ConfigFieldsProps) {
  return CONFIG[draft.type].map((field) => (
    <One
      key={`${draft.type} ${field.name}`}
      type={draft.type}
      field={field}
      value={draft.config[field.name]}
      error={errors.at(`config.${field.name}`)}
      change={(value) => change({ [field.name]: value })}
    />
  ));
}

interface OneProps {
  type: string;
  field: ConfigField;
  value: string | undefined;
  error: string | undefined;
  change: (value: string) => void;
}

function One({ type, field, value = '', error, change }: OneProps) {
  const note = word('channels.config', `${type}.${field.name}`);
  const shared = {
    label:
      word('channels.field', field.name) + (field.optional ? ` (${t('channels.optional')})` : ''),
    description:
      value === HIDDEN ? t('channels.kept') : note === `${type}.${field.name}` ? undefined : note,
    placeholder: field.placeholder,
    error,
  };
  if (field.choices)
    return (
      <Select
        {...shared}
        allowDeselect={false}
        data={field.choices.map((choice) => ({
          value: choice,
          label: word('channels.choice', choice || 'default'),
        }))}
        value={value || field.choices[0] || ''}
        onChange={(next) => change(next ?? '')}
      />
    );
  if (field.lines)
    return (
      <Textarea
        {...shared}
        autosize
        minRows={2}
        maxRows={6}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
      />
    );
  const Field = field.secret ? PasswordInput : TextInput;
  return (
    <Field
      {...shared}
      autoComplete="off"
      inputMode={field.number ? 'numeric' : undefined}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
