import type { login as source } from '../en/login';
import type { Translation } from '../messages';

export const login = {
  'login.byLink': '正在以一次性連結登入…',
  'login.ended': '工作階段已結束。重新登入即可繼續，頁面內容不會遺失。',
  'login.key': 'API 金鑰',
  'login.keyHint': '金鑰不會保存在瀏覽器中。',
  'login.linkHint': '或在伺服器上取得一次性登入連結：',
  'login.showKey': '顯示或隱藏金鑰',
  'login.submit': '登入',
  'login.title': '登入 Refire',
  'login.wrongKey': '金鑰無效。',
} satisfies Translation<typeof source>;
