/**
 * Asks before an action: names the object and the count, says what it does, offers it as curl, and
 * shows the server's refusal in place. Destructive actions on many ask for the count to be typed.
 */
import { Button, Modal, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { formatNumber, t } from '@/i18n/t';
import { CopyButton } from '../copy/CopyButton';
import { ProblemView } from '../state/ProblemView';
import classes from './confirm.module.css';
import { curlOf, type Request } from './curl';

/** Above this many, a destructive action asks for the count. */
const TYPED_ABOVE = 100;

export interface ConfirmProps {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** What will happen, and to what. */
  children?: ReactNode;
  /** The word on the button. */
  action: string;
  danger?: boolean;
  /** How many objects are touched. */
  count?: number;
  /** The request, for "Copy as curl". */
  request?: Request;
  disabled?: boolean;
  /** Another word than "Cancel" on the button that changes nothing. */
  cancel?: string;
  run: () => Promise<unknown>;
  size?: string | number;
}

export function Confirm(props: ConfirmProps) {
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.title}
      size={props.size}
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
    >
      {props.opened && <Body {...props} />}
    </Modal>
  );
}

function Body({
  children,
  action,
  danger,
  count,
  request,
  disabled,
  cancel,
  run,
  onClose,
}: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const mustType = danger && count !== undefined && count > TYPED_ABOVE;
  const ready = !disabled && (!mustType || typed.replace(/[^\d]/g, '') === String(count));

  const submit = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await run();
      onClose();
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      className={classes.body}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {children && <div>{children}</div>}
      {mustType && (
        <TextInput
          label={t('common.typeCount', { count: formatNumber(count) })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
      )}
      {error !== undefined && <ProblemView error={error} />}
      <div className={classes.foot}>
        {request && (
          <CopyButton withText label={t('common.copyCurl')} text={() => curlOf(request)} />
        )}
        <span className={classes.space} />
        <Button variant="default" onClick={onClose}>
          {cancel ?? t('common.cancel')}
        </Button>
        <Button
          type="submit"
          color={danger ? 'danger' : undefined}
          loading={busy}
          disabled={!ready}
          data-autofocus={mustType ? undefined : true}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
