/** The login over the page; it closes only by logging in. */
import { Modal } from '@mantine/core';
import { t } from '@/i18n/t';
import { LoginForm } from './LoginForm';
import { sessionBegins } from './session';

export default function LoginDialog() {
  return (
    <Modal
      opened
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
