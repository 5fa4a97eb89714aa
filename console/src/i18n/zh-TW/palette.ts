import type { palette as source } from '../en/palette';
import type { Translation } from '../messages';

export const palette = {
  'palette.action': '操作',
  'palette.kind.dead_letter': '死信',
  'palette.kind.execution': '執行',
  'palette.kind.external_task': '外部任務',
  'palette.kind.node': '節點',
  'palette.kind.scheduled_task': '排程任務',
  'palette.kind.trigger': '觸發器',
  'palette.kind.worker': '工作者',
  'palette.kind.workflow': '工作流程',
  'palette.none': '找不到結果',
  'palette.open': '開啟',
  'palette.page': '頁面',
  'palette.placeholder': '頁面、名稱，或貼上任何 ID、金鑰',
  'palette.results': '結果',
  'palette.title': '搜尋與操作',
} satisfies Translation<typeof source>;
