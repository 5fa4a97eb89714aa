/** The rules: what each watches, who is told, whether it is looked at. */
import { ActionIcon, Button, Menu, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  type AlertRule,
  deleteRule,
  deleteRuleRequest,
  rulesKey,
  rulesQuery,
  switchRule,
} from '@/api/queries/alerts';
import { usePageActions } from '@/app/palette/actions';
import { formatNumber, t, word } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { IconDots, IconPlus } from '@/ui/icons';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { plainList } from '@/ui/table/list';
import { toastDone, toastProblem } from '@/ui/toast/toast';
import classes from './alerts.module.css';
import { RuleDialog } from './RuleDialog';

const rowKey = (rule: AlertRule) => rule.id;

/** When a rule fires, in few words. */
export function whenWords(rule: AlertRule): string {
  const parts = [
    rule.above !== null && rule.above !== undefined
      ? t('alerts.aboveShort', {
          value: formatNumber(rule.above) + (rule.kind === 'failure_rate' ? ' %' : ''),
        })
      : undefined,
    rule.after ? t('alerts.afterShort', { time: rule.after }) : undefined,
    rule.window ? t('alerts.windowShort', { time: rule.window }) : undefined,
    rule.for && rule.for !== '0s' ? t('alerts.forShort', { time: rule.for }) : undefined,
    rule.workflow ? t('alerts.ofWorkflow', { workflow: rule.workflow }) : undefined,
  ];
  return parts.filter(Boolean).join(' · ');
}

export function Rules() {
  const client = useQueryClient();
  const query = useQuery(rulesQuery);
  const [editing, setEditing] = useState<AlertRule | 'new'>();
  const [deleting, setDeleting] = useState<AlertRule>();
  usePageActions([{ label: t('alerts.newRule'), run: () => setEditing('new') }]);
  const columns = useMemo(() => {
    const turn = async (rule: AlertRule, on: boolean) => {
      try {
        await switchRule(rule.id, on);
        toastDone(t(on ? 'alerts.enabled' : 'alerts.disabled', { name: rule.name }));
      } catch (error) {
        toastProblem(error);
      }
      client.invalidateQueries({ queryKey: rulesKey });
    };
    return ruleColumns({ edit: setEditing, remove: setDeleting, turn });
  }, [client]);
  return (
    <>
      <div className={classes.head}>
        <p className={classes.text}>{t('alerts.rulesText')}</p>
        <Button leftSection={<IconPlus size={14} />} onClick={() => setEditing('new')}>
          {t('alerts.newRule')}
        </Button>
      </div>
      <DataTable
        id="alert-rules"
        label={t('alerts.rules')}
        columns={columns}
        list={plainList(query)}
        rowKey={rowKey}
        open={setEditing}
        empty={{ title: t('alerts.noRules'), command: 'refire alerts rules create --help' }}
      />
      {editing && (
        <RuleDialog
          key={editing === 'new' ? 'new' : editing.id}
          rule={editing === 'new' ? undefined : editing}
          close={() => setEditing(undefined)}
        />
      )}
      {deleting && (
        <Confirm
          opened
          danger
          onClose={() => setDeleting(undefined)}
          title={t('alerts.deleteTitle', { name: deleting.name })}
          action={t(deleting.built_in ? 'alerts.restore' : 'alerts.delete')}
          request={deleteRuleRequest(deleting.id)}
          run={async () => {
            await deleteRule(deleting.id);
            toastDone(t('alerts.deleted'));
            client.invalidateQueries({ queryKey: rulesKey });
          }}
        >
          {t(deleting.built_in ? 'alerts.restoreText' : 'alerts.deleteText')}
        </Confirm>
      )}
    </>
  );
}

interface ColumnActs {
  edit: (rule: AlertRule) => void;
  remove: (rule: AlertRule) => void;
  turn: (rule: AlertRule, on: boolean) => void;
}

function ruleColumns({ edit, remove, turn }: ColumnActs): Column<AlertRule>[] {
  return [
    {
      id: 'name',
      header: t('alerts.name'),
      width: 200,
      grow: 2,
      required: true,
      cell: (rule) => <span title={rule.name}>{rule.name}</span>,
    },
    {
      id: 'kind',
      header: t('alerts.kind'),
      width: 190,
      grow: 1,
      cell: (rule) => word('alerts.kind', rule.kind),
    },
    {
      id: 'when',
      header: t('alerts.when'),
      width: 240,
      grow: 3,
      cell: (rule) => <span title={whenWords(rule)}>{whenWords(rule)}</span>,
    },
    {
      id: 'firing',
      header: t('alerts.phase.firing'),
      width: 70,
      align: 'end',
      cell: (rule) =>
        rule.firing > 0 ? (
          <Link to="/alerts" search={{ rule_id: rule.id, phase: 'firing' }} tabIndex={-1}>
            {formatNumber(rule.firing)}
          </Link>
        ) : (
          formatNumber(0)
        ),
    },
    {
      id: 'channels',
      header: t('alerts.channels'),
      width: 150,
      cell: (rule) =>
        rule.channels.length === 0 ? t('alerts.everyChannel') : rule.channels.join(', '),
    },
    {
      id: 'actions',
      header: t('alerts.actions'),
      width: 110,
      required: true,
      cell: (rule) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: buttons in a row do not open it
        // biome-ignore lint/a11y/useKeyWithClickEvents: as above
        <span className={classes.actions} onClick={(event) => event.stopPropagation()}>
          <Switch
            size="xs"
            aria-label={t('alerts.enable', { name: rule.name })}
            checked={rule.enabled}
            onChange={(event) => turn(rule, event.currentTarget.checked)}
          />
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <ActionIcon size={24} aria-label={t('alerts.actionsOf', { name: rule.name })}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => edit(rule)}>{t('alerts.edit')}</Menu.Item>
              <Menu.Item
                color="danger"
                disabled={rule.built_in && rule.version === 0}
                onClick={() => remove(rule)}
              >
                {t('bulk.more', { action: t(rule.built_in ? 'alerts.restore' : 'alerts.delete') })}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </span>
      ),
    },
  ];
}
