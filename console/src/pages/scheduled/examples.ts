/** Requests to begin with. */
export const EXAMPLES = {
  report: {
    taskName: 'Monthly report',
    isRecurring: true,
    scheduleType: 'cron',
    scheduleConfig: { cron: '0 9 1 * *', timezone: 'Asia/Taipei' },
    taskConfig: {
      taskType: 'report',
      targetConfig: {
        triggerType: 'http',
        url: 'https://reports.example.com/run',
        method: 'POST',
        headers: { Authorization: `Bearer $${'{SECRET_REPORTS_TOKEN}'}` },
        triggerTimeoutSeconds: 30,
      },
      taskPayload: {
        reportType: 'monthly',
        dateRange: 'last_month',
        departments: ['sales', 'marketing'],
        outputFormat: 'pdf',
      },
      retryConfig: { retryOnTimeout: true, maxRetries: 2, retryIntervalMinutes: 30 },
    },
  },
  notification: {
    taskName: 'Maintenance notice',
    isRecurring: false,
    scheduleType: 'immediate',
    taskConfig: {
      taskType: 'notification',
      targetConfig: {
        triggerType: 'http',
        url: 'https://notification-service.example.com/api/send',
        method: 'POST',
        headers: { Authorization: `Bearer $${'{SECRET_NOTIFICATION_TOKEN}'}` },
      },
      taskPayload: {
        recipients: ['user@example.com'],
        subject: '系統維護通知',
        body: '系統將於今晚進行維護',
        priority: 'high',
      },
    },
  },
  sync: {
    taskName: 'Order sync',
    isRecurring: true,
    scheduleType: 'daily',
    scheduleConfig: { time: '02:00', description: '每日凌晨2點同步訂單資料' },
    taskConfig: {
      taskType: 'sync',
      executorConfig: {
        sourceSystem: 'order_system',
        targetSystem: 'erp_system',
        isLongRunning: true,
        triggerTimeoutSeconds: 30,
      },
      taskPayload: {
        syncScope: 'daily_orders',
        batchSize: 100,
        apiEndpoint: 'https://erp.example.com/api/orders/batch',
      },
    },
  },
} as const;

export type ExampleName = keyof typeof EXAMPLES;
