//! The suggestions in 繁體中文, by what they are called in English. A test sees to it that none is missing.

use super::{Suggestion, say};

impl Suggestion {
    /// The same in 繁體中文.
    #[must_use]
    pub fn in_chinese(&self) -> Self {
        of_target(self)
            .or_else(|| of_workflow(self))
            .or_else(|| of_worker(self.title))
            .unwrap_or(*self)
    }
}

/// What the policy had tried.
fn in_vain(detail: &str) -> &'static str {
    if detail.starts_with("The policy allows no") {
        "重試政策不允許自動重試。若目標已恢復，可從失敗的步驟重試，已完成的步驟不會再次執行；若那些步驟已被復原，\
         請從頭開始。"
    } else if detail.starts_with("The policy's time limit") {
        "在完成所有重試之前，政策的時間限制已到。若目標已恢復，可從失敗的步驟重試，已完成的步驟不會再次執行；\
         若那些步驟已被復原，請從頭開始。"
    } else {
        "所有自動重試都失敗了。若目標已恢復，可從失敗的步驟重試，已完成的步驟不會再次執行；若那些步驟已被復原，\
         請從頭開始。"
    }
}

/// About the target and the way to it.
fn of_target(suggestion: &Suggestion) -> Option<Suggestion> {
    Some(match suggestion.title {
        "Retry once the target is healthy" => say("目標恢復後再重試", in_vain(suggestion.detail)),
        "Check that the target is up" => say(
            "確認目標服務正在運作",
            "該位址沒有任何回應。請檢查服務、連接埠與防火牆。",
        ),
        "Give the target more time" => say(
            "給目標更多時間",
            "目標接受了連線，但未及時回應。請調高步驟的 `timeout`，或讓目標先回應、再處理工作。",
        ),
        "Look at the target's log" => say(
            "查看目標的日誌",
            "目標在中途關閉了連線：可能是當機、重新啟動，或代理伺服器的限制。",
        ),
        "Check the host name" => say("檢查主機名稱", "無法解析 URL 中的主機名稱。"),
        "Check the certificate" => say(
            "檢查憑證",
            "TLS 交握失敗：憑證可能已過期、為自行簽署，或屬於其他名稱。",
        ),
        "Allow the address, if it is meant" => say(
            "若確實要呼叫該位址，請允許它",
            "預設會拒絕呼叫私人網路。REFIRE_ALLOW_PRIVATE_TARGETS 可開放全部或清單中的位址。",
        ),
        "Use the final address" => say(
            "使用最終的位址",
            "目標回應了未被跟隨的重新導向。請將新位址填入步驟的 `url`，或以 `followRedirects` 允許跟隨。",
        ),
        "Ask for less, or allow more" => say(
            "減少要求的資料，或放寬限制",
            "回應大於步驟的 `maxResponseBytes`。",
        ),
        "Check what answers there" => say(
            "檢查是什麼服務在回應",
            "回應不是可讀取的 HTTP 文字內容。該 URL 可能屬於其他種類的服務。",
        ),
        "Check the credentials" => say(
            "檢查憑證資訊與權限",
            "目標拒絕了認證。請更新密鑰或其權限，然後重試。",
        ),
        "Check the address and the ids" => say(
            "檢查位址與識別碼",
            "目標不認得所要求的內容：可能是 URL，或輸入中的識別碼有誤。",
        ),
        "See whether it is done already" => {
            say("確認是否已經完成", "目標回報衝突：先前的嘗試可能已經成功。")
        }
        "Slow down" => say(
            "放慢速度",
            "目標有速率限制。請調低工作流程的 `concurrency`，或設定 `rateLimit`，或允許更長的延遲。",
        ),
        "Wait for the target to recover" => say(
            "等待目標恢復",
            "目標回報了自身的錯誤。請查看其狀態或日誌，然後重試。",
        ),
        "Read the response" => say(
            "閱讀回應內容",
            "該狀態碼不在預期之中。若沒有問題，請將它加入步驟的 `expectedStatuses`。",
        ),
        "Read what the target called back" => say(
            "閱讀目標的回呼內容",
            "目標接受了呼叫，之後回呼表示失敗；其傳送的內容在上方。",
        ),
        _ => return None,
    })
}

/// About the input, the definition and the server.
fn of_workflow(suggestion: &Suggestion) -> Option<Suggestion> {
    Some(match suggestion.title {
        "Save the workflow again" => say(
            "重新儲存工作流程",
            "工作流程已被刪除，因此無法執行。請重新儲存後再重試；或刪除這筆死信。",
        ),
        "Let the sender say that it sends JSON" => say(
            "請傳送端標明其內容為 JSON",
            "Webhook 的內容被當成表單讀取，但看起來是 JSON，因此輸入只有一個奇怪的欄位。傳送端必須設定 \
             Content-Type: application/json。請以編輯過的輸入重試。",
        ),
        "Undo the step by hand" => say(
            "手動復原該步驟",
            "有一個已完成的步驟無法補償，其影響仍然存在。請在目標端修正，然後刪除這筆死信。",
        ),
        "Find out why the server died" => say(
            "找出伺服器停止的原因",
            "執行此步驟時，伺服器停止了五次。重試前請查看其日誌與記憶體；可能正是此步驟使它停止。",
        ),
        "Make the outputs smaller, or split the workflow" => say(
            "縮小輸出，或拆分工作流程",
            "執行的歷史已達上限：9,900 個事件，或 10 MiB 的值。請儲存輸出較小、重試較少或步驟較少的定義，\
             然後從頭重試。",
        ),
        "Set the secret" => say(
            "設定密鑰",
            "伺服器沒有該步驟所用密鑰的值。請在伺服器的環境中設定，重新啟動伺服器後重試；輸入可維持不變。",
        ),
        "Edit the input or the template" => say(
            "編輯輸入或範本",
            "無法以此輸入填入範本。請以編輯過的輸入重試，或修正工作流程後從頭重試。",
        ),
        "Edit the input and retry" => say(
            "編輯輸入後重試",
            "目標不接受請求的內容。請比對輸入與目標的要求；STEP_FAILED 事件中的回應可能指出是哪個欄位。",
        ),
        "Simplify the mapping, or ask for less" => say(
            "簡化對應，或減少要求的資料",
            "`outputMapping` 的某個路徑對此回應的成本過高，或符合的內容過多。請使用較簡單的路徑（\
             `$.body.items[0].id` 沒有限制），或讓目標回應較少的內容；然後儲存工作流程並從頭重試。",
        ),
        "Read the task's error" => say(
            "閱讀任務的錯誤",
            "行程內的任務回傳了錯誤；其訊息與原因在上方。",
        ),
        "Look at the server's log" => say("查看伺服器的日誌", "引擎無法執行該步驟。"),
        _ => return None,
    })
}

/// About workers and their tasks.
fn of_worker(title: &str) -> Option<Suggestion> {
    Some(match title {
        "Read the worker's error" => say(
            "閱讀工作程式的錯誤",
            "執行任務的工作程式回報失敗；其訊息與堆疊追蹤在上方。",
        ),
        "Check that workers ask for this task type" => say(
            "確認有工作程式領取此類型的任務",
            "任務未在其 `timeout` 內完成。若沒有工作程式領取，可能沒有任何一個在運作；否則它需要更多時間，\
             或步驟需要更長的 `timeout`。",
        ),
        "Look at the worker's log" => say(
            "查看工作程式的日誌",
            "工作程式領取任務後便失去聯繫：它可能當機（也許正是因為此任務），或在未傳送心跳的情況下超過了 \
             `lockDuration`。",
        ),
        _ => return None,
    })
}
