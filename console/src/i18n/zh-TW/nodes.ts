import type { nodes as source } from '../en/nodes';
import type { Translation } from '../messages';

export const nodes = {
  'nodes.col.address': '位址',
  'nodes.col.commit': '提交 p99',
  'nodes.col.expires': '租約到期',
  'nodes.col.holding': '持有',
  'nodes.col.id': '識別碼',
  'nodes.col.lease': '最近回報',
  'nodes.col.name': '節點',
  'nodes.col.running': '執行中',
  'nodes.col.started': '啟動時間',
  'nodes.col.status': '狀態',
  'nodes.col.version': '版本',
  'nodes.empty': '沒有節點',
  'nodes.emptyText': '執行中的伺服器會顯示在此。',
  'nodes.label': '節點列表',
  'nodes.lost': '{count} 個遺失',
  'nodes.lostNote': '節點的租約到期後，其他節點會立即接手其工作。',
  'nodes.ms': '{ms} 毫秒',
  'nodes.oneNote': '使用 SQLite 時只有一個節點；多個節點需共用一個 PostgreSQL 資料庫。',
  'nodes.over': '已到期',
  'nodes.summary': '{count} 個節點',
  'nodes.this': '目前節點',
  'nodes.title': '節點',
  'nodes.versions': '節點版本不一致：{versions}',
} satisfies Translation<typeof source>;
