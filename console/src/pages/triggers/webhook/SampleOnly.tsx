/** The sample of a webhook that cannot be tested yet: conditions are judged on it. */
import { t } from '@/i18n/t';
import { Editor } from '@/ui/editor/Editor';
import formClasses from '../form/form.module.css';
import { jsonProblem } from '../form/settings';
import type { SampleChoice } from './useSample';

export function SampleOnly({ sample }: { sample: SampleChoice }) {
  const wrong = sample.text.trim() === '' ? undefined : jsonProblem(sample.text);
  return (
    <div className={formClasses.fields}>
      <div className={formClasses.hint}>{t('webhook.sampleText')}</div>
      <Editor
        value={sample.text}
        onChange={(text) => text !== sample.text && sample.edit(text)}
        label={t('webhook.body')}
        language="json"
        minHeight={130}
        maxHeight={340}
      />
      {wrong && <div className={formClasses.wrong}>{wrong}</div>}
    </div>
  );
}
