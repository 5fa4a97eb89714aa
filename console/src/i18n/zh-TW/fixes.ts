import type { fixes as source } from '../en/fixes';
import type { Translation } from '../messages';

export const fixes = {
  'fix.saveAgain': '重新儲存工作流程',
  'fix.saveAgainWhy': '它已被刪除，無法執行。請重新儲存後再重試，或刪除這個死信。',
  'fix.sayJson': '讓傳送端宣告內容為 JSON',
  'fix.sayJsonWhy':
    'Webhook 把內容當成表單讀取，但看起來是 JSON。傳送端必須設定 Content-Type: application/json。請修改輸入後重試。',
  'fix.undo': '手動復原該步驟',
  'fix.undoWhy':
    '有一個已完成的步驟無法補償，其影響仍然存在。請在目標端自行修正，然後刪除這個死信。',
  'fix.serverDied': '查明伺服器為何中止',
  'fix.serverDiedWhy':
    '執行這個步驟時伺服器停止了五次。重試前請先檢查其記錄檔與記憶體，原因可能就是這個步驟。',
  'fix.smaller': '縮小輸出，或拆分工作流程',
  'fix.smallerWhy':
    '執行歷史已達上限：9,900 個事件或 10 MiB 的值。請儲存輸出較小、重試或步驟較少的定義，然後從頭重試。',
  'fix.targetUp': '確認目標服務正在運作',
  'fix.targetUpWhy': '該位址沒有回應。請檢查服務、連接埠與防火牆。',
  'fix.moreTime': '給目標更多時間',
  'fix.moreTimeWhy':
    '目標接受了連線，但沒有及時回應。請調高步驟的 `timeout`，或讓目標先回應再處理。',
  'fix.targetLog': '查看目標服務的記錄檔',
  'fix.targetLogWhy': '它在中途關閉了連線：可能是當機、重新啟動或代理伺服器的限制。',
  'fix.hostName': '檢查主機名稱',
  'fix.hostNameWhy': 'URL 中的名稱無法解析。',
  'fix.certificate': '檢查憑證',
  'fix.certificateWhy': 'TLS 交握失敗：憑證可能已過期、為自我簽署，或屬於其他名稱。',
  'fix.allow': '若確實需要，請允許該位址',
  'fix.allowWhy': '預設拒絕呼叫私有網路。可用 REFIRE_ALLOW_PRIVATE_TARGETS 全部或依清單開放。',
  'fix.redirect': '使用最終位址',
  'fix.redirectWhy':
    '目標回應了重新導向，但不會跟隨。請把新位址寫入步驟的 `url`，或以 `followRedirects` 跟隨。',
  'fix.less': '減少要求的資料，或放寬上限',
  'fix.lessWhy': '回應大於步驟的 `maxResponseBytes`。',
  'fix.whatAnswers': '檢查是什麼服務在回應',
  'fix.whatAnswersWhy': '回應不是可讀的 HTTP 文字內容。該 URL 可能屬於其他種類的服務。',
  'fix.secret': '設定機密值',
  'fix.secretWhy':
    '伺服器沒有該步驟所需機密的值。請在伺服器環境中設定、重新啟動後再重試；輸入不必修改。',
  'fix.template': '修改輸入或範本',
  'fix.templateWhy': '無法以這個輸入填入範本。請修改輸入後重試，或修正工作流程後從頭重試。',
  'fix.mapping': '簡化對應，或減少資料',
  'fix.mappingWhy':
    '`outputMapping` 的路徑對這個回應成本過高或符合過多。請改用較簡單的路徑，或讓目標回應較少內容，儲存後從頭重試。',
  'fix.local': '閱讀任務的錯誤',
  'fix.localWhy': '程序內的任務回傳了錯誤，訊息與原因如上。',
  'fix.callback': '閱讀目標回報的內容',
  'fix.callbackWhy': '目標接受了呼叫，之後回報失敗；其內容如上。',
  'fix.serverLog': '查看伺服器的記錄檔',
  'fix.serverLogWhy': '引擎無法執行這個步驟。',
  'fix.worker': '閱讀工作者的錯誤',
  'fix.workerWhy': '處理任務的工作者回報失敗，訊息與堆疊追蹤如上。',
  'fix.noWorker': '確認有工作者領取這種任務',
  'fix.noWorkerWhy':
    '任務未在 `timeout` 內完成。若沒有工作者領取，可能沒有任何工作者在執行；否則就需要更長的時間。',
  'fix.workerLog': '查看工作者的記錄檔',
  'fix.workerLogWhy':
    '工作者領取任務後就沒有消息：可能當機（也許正是因為這個任務），或超過 `lockDuration` 未送出心跳。',
  'fix.input': '修改輸入後重試',
  'fix.inputWhy': '目標不接受請求的內容。請比對輸入與目標的期望；其回應可能指出是哪個欄位。',
  'fix.credentials': '檢查認證資料',
  'fix.credentialsWhy': '目標拒絕了認證資料。請更新機密或權限後重試。',
  'fix.address': '檢查位址與識別碼',
  'fix.addressWhy': '目標找不到所要求的項目：可能是 URL，或輸入中的識別碼。',
  'fix.conflict': '確認是否已經完成',
  'fix.conflictWhy': '目標回報衝突：先前的嘗試可能已經成功。',
  'fix.slow': '放慢速度',
  'fix.slowWhy':
    '目標限制了速率。請降低工作流程的 `concurrency`、設定 `rateLimit`，或允許較長的延遲。',
  'fix.recover': '等待目標恢復',
  'fix.recoverWhy': '目標回報了自身的錯誤，可能正在維護。請查看其狀態或記錄檔，稍後重試。',
  'fix.response': '閱讀回應內容',
  'fix.responseWhy': '狀態碼不在預期之中。若這是正常的，請加入步驟的 `expectedStatuses`。',
  'fix.later': '目標恢復正常後再重試',
  'fix.laterNone':
    '策略不允許自動重試。若目標已恢復，請從失敗的步驟重試（已完成的步驟不會再執行）；若已被復原，請從頭重試。',
  'fix.laterTime':
    '在完成所有重試之前，策略的時限已到。若目標已恢復，請從失敗的步驟重試；若已完成的步驟已被復原，請從頭重試。',
  'fix.laterAll':
    '所有自動重試都失敗了。若目標已恢復，請從失敗的步驟重試（已完成的步驟不會再執行）；若已被復原，請從頭重試。',
} satisfies Translation<typeof source>;
