/** Sends a test request, signed for you, and says what became of it. */
import { Button, Select, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Trigger } from '@/api/queries/triggers';
import { type TestedWebhook, testWebhook } from '@/api/queries/webhooks';
import { t, word } from '@/i18n/t';
import { formatDuration, formatInstant } from '@/time/format';
import { CopyButton } from '@/ui/copy/CopyButton';
import { CopyId } from '@/ui/copy/CopyId';
import { Editor } from '@/ui/editor/Editor';
import { IconCheck, IconSend, IconX } from '@/ui/icons';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Status } from '@/ui/status/Status';
import { useTriggerChanged } from '../acting';
import formClasses from '../form/form.module.css';
import { jsonProblem } from '../form/settings';
import { signedCurl } from './signedCurl';
import type { Judged } from './useJudged';
import type { SampleChoice, SampleSource } from './useSample';
import classes from './webhook.module.css';

interface TesterProps {
  trigger: Trigger;
  sample: SampleChoice;
  /** The form has changes: a test runs with what is saved. */
  dirty: boolean;
  judged: Judged;
}

interface Tested {
  answer: TestedWebhook;
  tookMs: number;
}

/** `X-Signature: wrong` per line. */
export function headersOf(text: string): Record<string, string> | undefined {
  const lines = text.split('\n').filter((line) => line.trim());
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

export function Tester({ trigger, sample, dirty, judged }: TesterProps) {
  const changed = useTriggerChanged();
  const [dry, setDry] = useState(false);
  const [header, setHeader] = useState('');
  const [ip, setIp] = useState('');
  const [busy, setBusy] = useState(false);
  const [tested, setTested] = useState<Tested>();
  const [error, setError] = useState<unknown>();
  const wrong = sample.text.trim() === '' ? undefined : jsonProblem(sample.text);

  const send = async () => {
    setBusy(true);
    setError(undefined);
    setTested(undefined);
    const began = performance.now();
    try {
      const answer = await testWebhook(trigger.id, {
        body: sample.text.trim() || '{}',
        headers: headersOf(header),
        source_ip: ip.trim() || undefined,
        dry_run: dry || undefined,
      });
      setTested({ answer, tookMs: performance.now() - began });
      if (!dry) changed();
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Panel
      title={t('webhook.tester')}
      actions={
        <Select
          aria-label={t('webhook.sampleFrom')}
          allowDeselect={false}
          data={[
            { value: 'own', label: t('webhook.ownSample') },
            ...(sample.lastAt
              ? [
                  {
                    value: 'last',
                    label: t('webhook.lastRequest', {
                      time: formatInstant(Date.parse(sample.lastAt)),
                    }),
                  },
                ]
              : []),
          ]}
          value={sample.source}
          onChange={(source) => source && sample.choose(source as SampleSource)}
        />
      }
    >
      <div className={formClasses.fields}>
        <div>
          <div className={formClasses.label}>{t('webhook.body')}</div>
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
        <details>
          <summary>{t('webhook.testMore')}</summary>
          <div className={formClasses.row}>
            <TextInput
              className={formClasses.short}
              label={t('webhook.fromIp')}
              placeholder="203.0.113.5"
              value={ip}
              onChange={(event) => setIp(event.currentTarget.value)}
            />
            <TextInput
              className={formClasses.grow}
              label={t('webhook.testHeader')}
              description={t('webhook.testHeaderHint')}
              placeholder="X-Signature:…"
              value={header}
              onChange={(event) => setHeader(event.currentTarget.value)}
            />
          </div>
        </details>
        <div className={formClasses.row}>
          <Button
            leftSection={<IconSend size={14} />}
            loading={busy}
            disabled={wrong !== undefined}
            onClick={send}
          >
            {dry ? t('webhook.sign') : t('webhook.send')}
          </Button>
          <Switch
            label={t('webhook.dryRun')}
            description={t('webhook.dryRunText')}
            checked={dry}
            onChange={(event) => setDry(event.currentTarget.checked)}
          />
        </div>
        {dirty && <div className={formClasses.hint}>{t('webhook.testsSaved')}</div>}
        {!!error && <ProblemView error={error} />}
        {tested && <Result tested={tested} judged={judged} dirty={dirty} />}
      </div>
    </Panel>
  );
}

function Result({ tested, judged, dirty }: { tested: Tested; judged: Judged; dirty: boolean }) {
  const { result, sent } = tested.answer;
  const passed = judged.conditions?.filter((each) => each.passed).length;
  const started = result?.status === 'triggered';
  return (
    <div className={classes.result} role="status">
      <div className={classes.resultHead}>
        {result ? (
          <>
            {started ? <IconCheck size={16} /> : <IconX size={16} />}
            <Status value={result.status} />
            <span>{t('webhook.senderGets', { status: result.http_status })}</span>
            <span>{formatDuration(tested.tookMs)}</span>
          </>
        ) : (
          <strong>{t('webhook.signedOnly')}</strong>
        )}
        {result?.execution_id && (
          <>
            <span>{started ? t('webhook.started') : t('webhook.known')}</span>
            <CopyId id={result.execution_id} to={`/executions/${result.execution_id}`} full />
          </>
        )}
      </div>
      {result?.reason && <div>{result.reason}</div>}
      {result && (
        <div className={classes.overall}>
          <span>{signatureWords(result.status)}</span>
          {!dirty && judged.conditions && (
            <span>
              {t('webhook.passedOf', { passed: passed ?? 0, count: judged.conditions.length })}
            </span>
          )}
          {result.status === 'triggered' && <span>{t('webhook.keyNew')}</span>}
          {result.status === 'duplicate' && <span>{t('webhook.keyUsed')}</span>}
        </div>
      )}
      <details>
        <summary>{t('webhook.sent')}</summary>
        <pre className={classes.sent}>
          {[
            `${sent.method} ${sent.url}`,
            ...sent.headers.map(({ name, value }) => `${name}: ${value}`),
            '',
            sent.body,
          ].join('\n')}
        </pre>
        <CopyButton withText label={t('common.copyCurl')} text={() => signedCurl(sent)} />
      </details>
    </div>
  );
}

function signatureWords(status: string): string {
  if (status === 'auth_failed') return t('webhook.signatureWrong');
  if (/^(triggered|filtered|duplicate|error)$/.test(status)) return t('webhook.signatureRight');
  return word('status', status);
}
