/** Saves a text as a file. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { t } from '@/i18n/t';
import { IconDownload } from '../icons';

export function download(name: string, text: string, type = 'application/json') {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

export function DownloadButton({ name, text }: { name: string; text: () => string }) {
  return (
    <Tooltip label={t('common.download')}>
      <ActionIcon
        size={24}
        aria-label={t('common.download')}
        onClick={() => download(name, text())}
      >
        <IconDownload size={14} stroke={1.5} />
      </ActionIcon>
    </Tooltip>
  );
}
