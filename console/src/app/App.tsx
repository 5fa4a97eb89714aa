/** The providers, and the settings that touch the whole page. */
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { loadLanguage, t } from '@/i18n/t';
import { nonce } from '@/nonce';
import { useSettings } from '@/settings/settings';
import { resolver, themeFor } from '@/theme/mantine';
import { useScheme } from '@/theme/scheme';
import { queryClient } from './query';
import { router } from './router';

export function App() {
  const { language, density, zone } = useSettings();
  const scheme = useScheme();
  const [shown, setShown] = useState(language);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the words change with the language
  const theme = useMemo(() => themeFor(t('common.close')), [shown]);

  useEffect(() => {
    loadLanguage(language).then(() => setShown(language));
  }, [language]);
  useEffect(() => {
    document.documentElement.dataset.density = density;
  }, [density]);

  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolver}
      forceColorScheme={scheme}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        {/* A new language or zone draws every text again; URL and cache keep the state. */}
        <RouterProvider key={`${shown}/${zone}`} router={router} />
        <Notifications position="bottom-right" limit={4} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
