import type { workers as source } from '../en/workers';
import type { Translation } from '../messages';

export const workers = {
  'workers.anyProgram': '任何程式，每個任務執行一次',
  'workers.col.actions': '動作',
  'workers.col.completed': '已完成',
  'workers.col.failed': '失敗',
  'workers.col.heartbeat': '最近心跳',
  'workers.col.held': '持有',
  'workers.col.poll': '最近輪詢',
  'workers.col.since': '首次出現',
  'workers.col.status': '狀態',
  'workers.col.type': '種類',
  'workers.col.types': '領取類型',
  'workers.col.worker': '工作者',
  'workers.empty': '尚無工作者',
  'workers.emptyText': '說明身分並領取任務的工作者會出現在此。可從以下方式開始：',
  'workers.filter.search': '名稱、種類或任務類型',
  'workers.filter.status': '狀態',
  'workers.filter.type': '種類',
  'workers.label': '工作者列表',
  'workers.plainHttp': '任何語言的 HTTP 呼叫',
  'workers.release': '釋放',
  'workers.releaseText':
    '其他工作者可領取它持有的 {count} 個任務，不計入嘗試次數。若它再次領取任務，會重新列出。',
  'workers.releaseTitle': '要移除 {worker} 並釋放其任務嗎？',
  'workers.released': '已釋放 {count} 個任務。',
  'workers.title': '工作者',
} satisfies Translation<typeof source>;
