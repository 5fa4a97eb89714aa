/** The session ended while somebody worked: the login comes over the page, and nothing is lost. */
import { Modal } from '@mantine/core';
import { t } from '@/i18n/t';
import { LoginForm } from './LoginForm';
import { sessionBegins, useSessionEnded } from './session';

export function LoginOverlay() {
  const ended = useSessionEnded();
  return (
    <Modal
      opened={ended}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={t('login.ended')}
    >
      <LoginForm done={sessionBegins} />
    </Modal>
  );
}
