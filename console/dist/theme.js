// Sets the colour scheme and the language before the first paint, so that nothing flashes.
(() => {
  let settings = {};
  try {
    settings = JSON.parse(localStorage.getItem('refire.settings') || '{}');
  } catch {}
  const dark =
    settings.theme === 'dark' ||
    (settings.theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
  if (settings.density === 'compact')
    document.documentElement.setAttribute('data-density', 'compact');
})();
