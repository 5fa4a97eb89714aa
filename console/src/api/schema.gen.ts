// Written by `npm run api` from openapi.json. Do not edit.

export interface paths {
    "/api/alert-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rules of alerts, those from the start first. */
        get: operations["list_alert_rules"];
        put?: never;
        /**
         * Makes a rule of alerts.
         * @description It is looked at every ten seconds by one of the servers. What it finds for as long as `for` says fires, and
         *     people are told once, again every `repeat`, and once when it is over.
         */
        post: operations["create_alert_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alert-rules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a rule would say now, and would have said within the last day. Nothing is saved. */
        post: operations["preview_alert_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alert-rules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A rule of alerts. */
        get: operations["get_alert_rule"];
        put?: never;
        post?: never;
        /** Removes a rule of alerts. What it alerts of is over with the next look. */
        delete: operations["delete_alert_rule"];
        options?: never;
        head?: never;
        /**
         * Changes a rule of alerts by a JSON merge patch.
         * @description `null` removes a field, and the result is checked as a whole. What fires goes on unless the changed rule does not
         *     find it any more. With `If-Match`, only the version that you have seen is changed.
         */
        patch: operations["change_alert_rule"];
        trace?: never;
    };
    "/api/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Alerts, the newest first.
         * @description An alert is one from when its rule finds something until it is over; then the next one is another. Those that
         *     are over are kept for 30 days, one for each rule and subject.
         */
        get: operations["list_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One alert. */
        get: operations["get_alert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts/{id}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says that somebody is at it: nobody is reminded any more. That it is over is told all the same. */
        post: operations["acknowledge_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Backs up all data to a new file in the server's backup directory, while the server runs. The file is
         *     an SQLite database, also for PostgreSQL.
         */
        post: operations["back_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Bulk jobs, newest first. */
        get: operations["list_bulk_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bulk/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A bulk job: where it stands, and how many things have which outcome. */
        get: operations["get_bulk_job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bulk/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a bulk job where it stands. What it has done stays done. */
        post: operations["cancel_bulk_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bulk/{id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What became of the things of a bulk job, from the newest thing to the oldest. Kept for 30 days after its end. */
        get: operations["list_bulk_items"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bulk/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pauses a bulk job: what is under way ends, nothing else begins. */
        post: operations["pause_bulk_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bulk/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lets a paused bulk job go on where it stopped. */
        post: operations["resume_bulk_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All channels, oldest first. */
        get: operations["list_channels"];
        put?: never;
        /**
         * Makes a channel.
         * @description It is told of what `kinds` and `workflows` choose, from now on. The secret of a `webhook` channel is
         *     chosen by the server unless one is given, and shown this once.
         */
        post: operations["create_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/channels/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a message through a channel would look like. Nothing is sent or written. */
        post: operations["preview_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A channel: what it is told of, where its messages go, and whether they get through. */
        get: operations["get_channel"];
        put?: never;
        post?: never;
        /** Removes a channel. Messages that are on their way are not sent any more. */
        delete: operations["delete_channel"];
        options?: never;
        head?: never;
        /**
         * Changes a channel by a JSON merge patch on what is shown of it.
         * @description `null` removes a field, and `***` keeps a secret. The result is checked as a whole. Messages that are on
         *     their way go by the channel as it is when they are sent.
         */
        patch: operations["change_channel"];
        trace?: never;
    };
    "/api/channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a test message through a channel, also while it is disabled.
         * @description What became of it is in `/api/notifications/{id}`. Teams says only that its workflow began: look there
         *     whether the message is to be seen.
         */
        post: operations["test_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dlq": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Dead letters, newest first.
         * @description Without `status`, only those that are pending or being retried. What failed more than 30 days ago is archived: it
         *     is shown with `archived=true` or `archived=all`.
         */
        get: operations["list_dead_letters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dlq/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retries, deletes or purges many dead letters, as a job of the server.
         * @description Which those are is said by `ids` or by `filter`; what fails later is never met. With `dry_run` nothing is written, and
         *     the answer says how many there are and what would become of ten of them (status 200, `BulkPreview`).
         */
        post: operations["bulk_dead_letters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dlq/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many dead letters there are, the oldest and the newest, by workflow and error. */
        get: operations["summarize_dead_letters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dlq/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A dead letter: what the list has of it, and its log, the target's answer, what was undone, every
         *     retry by people, and how many have the same cause.
         */
        get: operations["get_dead_letter"];
        put?: never;
        post?: never;
        /**
         * Deletes a dead letter: it is not retried any more.
         * @description It stays readable with `?status=deleted`.
         */
        delete: operations["delete_dead_letter"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dlq/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retries a dead letter as a new execution, without automatic retries unless they are asked for.
         * @description Success resolves the letter; failure makes it pending again.
         */
        post: operations["retry_dead_letter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Executions, newest first, without input, output and steps.
         * @description By workflow, status, trigger, time, id and key they are found at once. Any other filter looks at 10,000 of them,
         *     says with `searched_to` how far it came, and goes on from `next_cursor`.
         */
        get: operations["list_executions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancels, pauses, resumes or runs many executions again, as a job of the server.
         * @description Which those are is said by `ids` or by `filter`; what comes later is never met. With `dry_run` nothing is written, and the
         *     answer says how many there are and what would become of ten of them (status 200, `BulkPreview`).
         */
        post: operations["bulk_executions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many executions there are: exactly up to 10,000, else at least. */
        get: operations["count_executions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One execution with its input, output and steps. */
        get: operations["get_execution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An execution's attempts, in the order in which they were planned: from its log, and those under way from
         *     their rows.
         */
        get: operations["list_attempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends an execution. Timers are dropped and results of attempts in flight ignored. */
        post: operations["cancel_execution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An execution's log, oldest first. */
        get: operations["list_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pauses an execution: attempts in flight finish, nothing new starts. */
        post: operations["pause_execution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replays an execution and checks whether every decision comes out the same.
         * @description With a definition in the body it is the replay lab: the first event that would have been
         *     different under that definition. Only decisions are compared: which steps run, in what order, what
         *     is retried and when, and how it ends. Requests to targets are not recorded, so a changed URL, header
         *     or body shows no difference.
         */
        post: operations["replay_execution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resumes a paused execution where it stopped. */
        post: operations["resume_execution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/retry-now": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes retries that wait now, in place of later. Each counts as the attempt that was planned. */
        post: operations["retry_execution_now"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/run-again": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs an execution again: a new execution with the same input, by the newest definition. */
        post: operations["run_execution_again"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tasks, newest first. */
        get: operations["list_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks/poll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetches tasks, and waits for the first.
         * @description Takes what is there and never waits to fill `maxTasks`. A task that is fetched is locked for the worker;
         *     `lockToken` is the lock's name and belongs into every call about the task.
         */
        get: operations["poll_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tasks by their type: how many wait, how many workers have, and who asks for them. */
        get: operations["summarize_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A task with its input, and its output when it is done. */
        get: operations["get_task"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A worker has done its task; the body is the output, any JSON. */
        post: operations["complete_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks/{id}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A worker needs its task for longer; never beyond the attempt's time. */
        post: operations["extend_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A worker could not do its task. */
        post: operations["fail_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A worker is still at its task: its lock counts from now. */
        post: operations["beat_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/external-tasks/{id}/unlock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A worker gives its task back. That is no attempt; another worker gets it at once. */
        post: operations["unlock_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The nodes that share the store, the oldest first; on SQLite there is one. */
        get: operations["list_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Messages to people, newest first. They are kept for seven days. */
        get: operations["list_notifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A message: what it is about, and how far it is. */
        get: operations["get_notification"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a message once more. Whoever gets it sees the id of the first one. */
        post: operations["resend_notification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The whole at a glance: how much happened within a range, how much is open, who is there. */
        get: operations["get_overview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/retries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Executions that were retried at least once, newest first. */
        get: operations["list_retries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/retry/simulate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** When the retries of a policy would happen if every attempt failed immediately. */
        post: operations["simulate_retries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedule/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * When a schedule would fire that is not saved yet, and what it means in words.
         * @description The body has the settings of a `cron` or `schedule` trigger as they are sent to create it, in JSON or
         *     YAML, and beside them `count` (1 to 100, default 10) and `from` (a time; default now). What saving
         *     would refuse is refused here, too.
         */
        post: operations["preview_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/scheduled-tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Scheduled tasks, newest first. */
        get: operations["list_scheduled_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/scheduled-tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A scheduled task: what was asked for, when it begins next, and how it went last. */
        get: operations["get_scheduled_task"];
        put?: never;
        post?: never;
        /** Cancels a scheduled task and hides it. Its executions are kept. */
        delete: operations["delete_scheduled_task"];
        options?: never;
        head?: never;
        /**
         * Changes a scheduled task by a JSON merge patch on the request that made it.
         * @description `null` removes a field. The result is checked as a whole. Cycles that are open keep what they began
         *     with; a changed schedule counts from now on. With `If-Match`, only the version that you have seen is
         *     changed; without it the last change wins.
         */
        patch: operations["change_scheduled_task"];
        trace?: never;
    };
    "/api/scheduled-tasks/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancels a scheduled task: no cycle begins any more, and open executions are cancelled.
         * @description It can still be read, and deleted.
         */
        post: operations["cancel_scheduled_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/scheduled-tasks/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pauses a scheduled task: no new cycle begins. Open ones, their retries and their callbacks go on. */
        post: operations["pause_scheduled_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/scheduled-tasks/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lets a paused task go on. Cycles that were planned during the pause are skipped. */
        post: operations["resume_scheduled_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/scheduled-tasks/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begins a cycle now, also while the task is paused. Planned times stay as they are. */
        post: operations["run_scheduled_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schema/workflow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The JSON Schema of definitions, for editors. */
        get: operations["get_workflow_schema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What has this id, idempotency key or trace id; else what has the text in its name.
         * @description Names are looked for among the first 2,000 workflows, triggers and scheduled tasks, and among all workers and
         *     nodes.
         */
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who calls, with a session or with a key. */
        get: operations["get_session"];
        put?: never;
        /**
         * Begins a session of the console with an API key or with the token of a one-time link.
         * @description The answer sets a cookie; it is the only one who knows the session. From one address, ten attempts in a minute
         *     may fail.
         */
        post: operations["log_in"];
        /** Ends the session that calls, in all tabs and on all nodes. A call with a key has none to end. */
        delete: operations["log_out"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a link that logs in to the console by itself, once, within 15 minutes. Needs the key: a session that made
         *     links could go on for ever, and after its end.
         */
        post: operations["create_session_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/silences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Silences, those that end last first; the newest 200, those that are over among them. */
        get: operations["list_silences"];
        put?: never;
        /**
         * Makes a silence: of a rule, about a subject, or of everything.
         * @description It begins now unless `starts_at` says otherwise. Alerts fire and are shown all the same; what still fires at its end
         *     is told then.
         */
        post: operations["create_silence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/silences/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A silence. */
        get: operations["get_silence"];
        /** Writes a silence anew; who made it and when stays. */
        put: operations["replace_silence"];
        post?: never;
        /** Ends a silence: what still fires is told with the next look. */
        delete: operations["delete_silence"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stats/minutes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happened within a range, step by step: executions started, completed, failed, retried, and how long they took.
         * @description Numbers are counted when something happens, written every ten seconds and kept for 14 days. They stay when
         *     executions are removed.
         */
        get: operations["get_minute_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Targets by host: those that workflows name, and those that were called lately or have a breaker.
         * @description The figures of calls are those of the node that answers.
         */
        get: operations["list_targets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/targets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One target. */
        get: operations["get_target"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/targets/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lets all calls to a target be made, whatever fails, until somebody opens or resets its breaker. */
        post: operations["close_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/targets/{id}/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stops all calls to a target, until somebody closes or resets its breaker. What is due waits. */
        post: operations["open_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/targets/{id}/probe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Has the next call try now whether a target is back, and not only when its time comes. */
        post: operations["probe_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/targets/{id}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Closes a target's breaker; from now on it opens by itself again. */
        post: operations["reset_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/time-zones": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All time zones by name, with what their clocks are ahead of UTC now. */
        get: operations["list_time_zones"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Triggers, oldest first. */
        get: operations["list_triggers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/upcoming": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The next planned time of each enabled trigger, the soonest first. */
        get: operations["list_upcoming"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A trigger: its settings, when it fires next, and its state. */
        get: operations["get_trigger"];
        /**
         * Replaces all settings of a trigger.
         * @description Fields that are not named are reset to their defaults. The type and the address of a webhook stay,
         *     and so does its secret as long as the authentication stays the same. Whether it is enabled stays
         *     unless `enabled` is given.
         */
        put: operations["replace_trigger"];
        post?: never;
        /** Deletes a trigger. Its executions are kept. */
        delete: operations["delete_trigger"];
        options?: never;
        head?: never;
        /**
         * Changes a trigger by a JSON merge patch.
         * @description `null` resets a field to its default. Objects are changed field by field, except `input`, which is
         *     replaced. The type cannot change. This can also fix a trigger that can no longer be read (see its
         *     `problem`). A change of nothing makes no new version, and the answer says `unchanged`.
         */
        patch: operations["change_trigger"];
        trace?: never;
    };
    "/api/triggers/{id}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Runs planned times of the past, oldest first.
         * @description By default only times that were skipped are run, so that repeating the request runs nothing twice.
         *     With `only_missed: false` all of them are run again. A range in the future is refused, as is an
         *     `Idempotency-Key`, since none is kept for this. At most 1,000.
         */
        post: operations["backfill_trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Disables a trigger: it starts nothing until it is enabled again. */
        post: operations["disable_trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enables a trigger.
         * @description The times planned while it was disabled are skipped, or with `catch_up` started as `misfire` says.
         *     `pause` in the answer has how many there were and how many are started.
         */
        post: operations["enable_trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The next planned times, whether or not the trigger is enabled. */
        get: operations["list_next_slots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Requests to a webhook, newest first, without headers and bodies. */
        get: operations["list_webhook_requests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/requests/recheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Checks refused requests again with the current settings of the trigger, oldest first, and runs those that
         *     pass.
         * @description Tests are left out. Requests without an idempotency key that are equal byte for byte count as one, which
         *     is started once. At most 500 a call: `next_cursor` goes on. With `dry_run` nothing is started or written.
         */
        post: operations["recheck_webhook_requests"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/requests/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What became of the requests to a webhook, counted.
         * @description Of many the newest 10,000 are counted.
         */
        get: operations["summarize_webhook_requests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/requests/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One request with its headers and its body.
         * @description The body of a request that started an execution is that execution's input.
         */
        get: operations["get_webhook_request"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/requests/{request_id}/recheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Checks a refused request again with the current settings of the trigger, and runs it if it passes.
         * @description Its status becomes `triggered`, or `duplicate` if its execution was started before. If its
         *     signature or key was right when it arrived, that is not checked again. Otherwise the time of
         *     signing is compared with the time of arrival.
         */
        post: operations["recheck_webhook_request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives a webhook a new secret, which is shown only once.
         * @description The old one stays valid for a day, or as long as `keep_previous_for` says (at most 90 days), so that the
         *     sender can be told. While the secret before it is still valid (`previous_secret_until`), this is
         *     refused, unless `end_previous` ends that one. With a `keep_previous_for` of `0s` both end.
         */
        post: operations["rotate_secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts an execution now, as the trigger would. It is not in the ledger, since it is not a planned
         *     time.
         * @description With an `Idempotency-Key`, a repeated request does not start a second execution: for 7 days it
         *     gets the id of the first.
         */
        post: operations["run_trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/slots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The ledger: what happened at every planned time, newest first.
         * @description Consecutive planned times that were skipped for the same reason are one entry, which is in every range
         *     that has one of them. For each trigger
         *     the last 100 of these are kept, the last 2000 that were backfilled, and the last 200 others.
         */
        get: operations["list_slots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tests a webhook: creates a request, signs it with the live secret as the sender would, and handles
         *     it as if it came from outside.
         * @description Signature, filters, idempotency and limits are checked as usual; the log marks it as a test. With
         *     `dry_run` it is signed and nothing is sent. The secret itself is never in the answer. A key of the
         *     sender's request is one of `headers`; an `Idempotency-Key` of this request is refused.
         */
        post: operations["test_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trouble": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is wrong at present, the worst first.
         * @description Dead letters, triggers that are overdue or cannot be read, tasks that no worker asks for, workers and
         *     nodes that are not heard of, webhooks whose requests are refused, channels that nothing gets through, and
         *     alerts that fire, unless their cause is in the list already.
         */
        get: operations["list_trouble"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhook/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the settings of a webhook make of a request: its conditions, and the name it would be known by.
         * @description The settings need not be saved. Signatures and addresses are not checked, and nothing is sent or
         *     written.
         */
        post: operations["preview_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Workers that have said who they are, by name.
         * @description What is seen of them is written every ten seconds; a server that crashes may lose that much of the counts.
         *     Of more than 10,000 workers those seen longest ago are forgotten.
         */
        get: operations["list_workers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Forgets a worker. Others may fetch the tasks that it has; that is no attempt.
         * @description A worker that asks for tasks again is there again.
         */
        delete: operations["remove_worker"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Workflows by name, or the last saved first. */
        get: operations["list_workflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Checks a definition and says what saving it would do. Saves nothing. */
        post: operations["validate_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A workflow with its newest definition. */
        get: operations["get_workflow"];
        /**
         * Saves a definition, in YAML or JSON. Unchanged content makes no new version.
         * @description With `If-Match`, it is saved only over the version that you have seen; with `If-None-Match: *`, only if
         *     there is no such workflow. Without them the last change wins.
         */
        put: operations["save_workflow"];
        post?: never;
        /** Deletes a workflow and disables its triggers. Its executions and dead letters are kept. */
        delete: operations["delete_workflow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/cron-history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The last executions of a workflow's cron trigger, newest planned time first, times in the trigger's zone.
         * @description Backfilled executions are listed at their planned time. If there are several cron triggers, the
         *     oldest is used unless `trigger_id` names one.
         */
        get: operations["get_cron_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What changed between two versions.
         * @description Without `to` the newest, without `from` the one before it.
         */
        get: operations["diff_workflow_versions"];
        put?: never;
        /** What saving a definition would change. Saves nothing. */
        post: operations["diff_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts an execution with the body as its input.
         * @description With an `Idempotency-Key`, a repeated request does not start a second execution: for 7 days it
         *     gets the id of the first. With `wait` the answer is the finished execution, if it ends in time.
         */
        post: operations["execute_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/execute-batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts up to 1,000 executions in one commit; each item has its own result, in order. */
        post: operations["execute_workflow_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The triggers of a workflow, oldest first. */
        get: operations["list_workflow_triggers"];
        put?: never;
        /**
         * Creates a trigger for a workflow.
         * @description A `cron` trigger fires on an expression, a `schedule` at an interval, at single moments or at
         *     times of day, and a `webhook` when a request arrives. The answer has the `id` and, for a webhook,
         *     its address and its `secret`, which is shown only once.
         */
        post: operations["create_trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A workflow's versions, newest first, without their text. */
        get: operations["list_workflow_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One version with its text, also of a deleted workflow. */
        get: operations["get_workflow_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/errors/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What an error code means, and what to do. */
        get: operations["get_error_page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same as /livez. */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process runs. */
        get: operations["livez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether new work is accepted. */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedule-task": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a scheduled task.
         * @description A service is called at the times that the schedule says, with the payload, an execution id and, unless
         *     `callbackWindow` is 0, a callback address. 201 means that the task is on disk; an `immediate` one has
         *     begun. With an `Idempotency-Key`, a repeated request makes no second task.
         */
        post: operations["schedule_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/task-callback/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * A target says how it went, or how far it is.
         * @description `processing` may be said as often as wanted; `success` or `failed` is the last word. Nobody needs an API
         *     key: the token is the credential. Fields that are not described are kept.
         */
        put: operations["call_back"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/task-history/{taskId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The attempts of a scheduled task, newest first, each with what became of it. */
        get: operations["get_task_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/task-history/{taskId}/{executionId}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Asks the target how the task goes, in the way that it has given for this attempt. */
        get: operations["get_task_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What runs here. */
        get: operations["get_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receives a request from a sender.
         * @description The answer is `triggered` only when the execution is on disk. A repeated request with the same key
         *     gets `already_processed` and the execution of the first.
         */
        post: operations["receive_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An accepted execution. */
        Accepted: {
            /** @description True if the idempotency key was used before for this execution. */
            duplicate?: boolean;
            /** @description `exec_…` */
            execution_id: string;
            /** @description Its status now. */
            status: components["schemas"]["ExecutionStatus"];
        };
        /** @description An alert: something that a rule holds, or held, for. */
        Alert: {
            /** @description When somebody said that he is at it. */
            acked_at?: string | null;
            /** @description Who. */
            acked_by?: string | null;
            /** @description When it began to be bad. */
            began_at: string;
            /** @description Its id, `alert_…`; the same until it is over. */
            id: string;
            /** @description What the rule watches. */
            kind: components["schemas"]["AlertKind"];
            /** @description Whether nobody is told at present: because of a silence, or because no channel wants it. */
            muted: boolean;
            /** @description The page of the console that shows it. */
            path: string;
            /** @description How far it is. */
            phase: components["schemas"]["AlertPhase"];
            /** @description What its rule is called. */
            rule: string;
            /** @description Its rule. */
            rule_id: string;
            /** @description Since when it has its phase. */
            since: string;
            /** @description What it is about: a workflow, a trigger, a worker or a host. */
            subject: string;
            /**
             * Format: double
             * @description What the value is compared with; null where being there is enough.
             */
            threshold?: number | null;
            /** @description When people were told last; null if nobody was. */
            told_at?: string | null;
            /** @description What the value is. */
            unit: components["schemas"]["AlertUnit"];
            /**
             * Format: double
             * @description How bad it is, or was last.
             */
            value: number;
            /** @description The value for people, such as `42.5 %`. */
            value_text: string;
            /** @description The workflow that it concerns. */
            workflow_id?: string | null;
        };
        /** @description Alerts; each counted up to 1,000. */
        AlertCounts: {
            /**
             * Format: int64
             * @description Those that fire.
             */
            firing: number;
            /**
             * Format: int64
             * @description Those that are bad, but not for long enough.
             */
            pending: number;
        };
        /** @description A time during which a rule would have fired. */
        AlertEpisode: {
            /** @description From when on. */
            from: string;
            /** @description What about. */
            subject: string;
            /** @description Until when; null if it still would. */
            to?: string | null;
            /**
             * Format: double
             * @description The worst value.
             */
            worst: number;
            /** @description The same for people. */
            worst_text: string;
        };
        /** @description Something that a rule finds. */
        AlertFinding: {
            /** @description What it is about. */
            subject: string;
            /** @description What the value is. */
            unit: components["schemas"]["AlertUnit"];
            /**
             * Format: double
             * @description How bad it is.
             */
            value: number;
            /** @description The value for people. */
            value_text: string;
        };
        /**
         * @description What a rule of alerts watches.
         * @enum {string}
         */
        AlertKind: "failure_rate" | "dlq_growth" | "dead_workers" | "missed_slots" | "dead_man" | "scheduled_task_failed" | "long_processing" | "breaker_open";
        /**
         * @description How far an alert is: `pending` is bad, but not for long enough.
         * @enum {string}
         */
        AlertPhase: "pending" | "firing" | "resolved";
        /** @description A rule by which people are alerted. */
        AlertRule: {
            /**
             * Format: double
             * @description What is still good: percent of failures, or a count.
             */
            above?: number | null;
            /** @description How long a task or a callback may take. */
            after?: string | null;
            /** @description Whether it was there from the start. */
            built_in: boolean;
            /** @description The channels that are told, by name or id; empty = every channel that is enabled. */
            channels: string[];
            /** @description When somebody made it, or changed it first. */
            created_at?: string | null;
            /** @description Whether it is looked at. */
            enabled: boolean;
            /**
             * Format: int64
             * @description How many of its alerts fire.
             */
            firing: number;
            /** @description For how long it must be bad before it fires. */
            for: string;
            /** @description Its id, `rule_…`. */
            id: string;
            /** @description What it watches. */
            kind: components["schemas"]["AlertKind"];
            /**
             * Format: int64
             * @description Executions that must have ended within the window for a share to mean something.
             */
            min_count?: number | null;
            /** @description What people call it; no two rules have the same name. */
            name: string;
            /** @description How often people are reminded while it fires. */
            repeat: string;
            /** @description When it was changed last. */
            updated_at?: string | null;
            /**
             * Format: int32
             * @description Counts its changes; send it as `If-Match` to change only what you have seen. 0 = as it was from the start.
             */
            version: number;
            /** @description What is allowed but probably not meant: a workflow or a channel that does not exist. */
            warnings?: string[];
            /** @description How far back it looks, such as `10m`. */
            window?: string | null;
            /** @description Only of this workflow. */
            workflow?: string | null;
        };
        /** @description What a rule would say. */
        AlertRulePreview: {
            /** @description What it finds now, the worst first; whether that holds for long enough is not asked. */
            now: components["schemas"]["AlertFinding"][];
            /**
             * @description When it would have fired, the newest first, from the numbers of each minute; null if there are none of
             *     what it watches.
             */
            past?: components["schemas"]["AlertEpisode"][] | null;
            /** @description From when on the past is told. */
            past_from: string;
            /** @description What is allowed but probably not meant. */
            warnings?: string[];
        };
        /**
         * @description What the value of an alert is.
         * @enum {string}
         */
        AlertUnit: "percent" | "count" | "seconds";
        /** @description One attempt of a step. */
        Attempt: {
            /**
             * Format: int32
             * @description Its number, from 1.
             */
            attempt: number;
            /**
             * Format: int64
             * @description The policy's wait before it.
             */
            backoff_ms?: number | null;
            /** @description Whether it undoes another step. */
            compensation: boolean;
            /** @description When it was to begin; null = at once. */
            due_at?: string | null;
            /**
             * Format: int64
             * @description How long it took.
             */
            duration_ms?: number | null;
            /** @description Whether somebody did not want to wait for it. */
            early: boolean;
            /** @description When it ended. */
            ended_at?: string | null;
            error?: components["schemas"]["ErrorInfo"] | null;
            /** @description The node that makes it, or died during it. */
            node_id?: string | null;
            /** @description The beginning of what the target answered to an attempt that failed, at most 64 KiB. */
            response?: string | null;
            /** @description Whether its failure may be retried; null where it did not fail. */
            retryable?: boolean | null;
            /** @description When it was planned. */
            scheduled_at: string;
            /** @description When it began. */
            started_at?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["AttemptStatus"];
            /** @description The step. */
            step_id: string;
            /** @description Its task for workers, if it is one. */
            task_id?: string | null;
            /** @description The worker that has or had its task. */
            worker_id?: string | null;
        };
        /**
         * @description Where an attempt stands: `planned` is to come, `waiting` is for a worker or a callback, and `lost` died with its node.
         * @enum {string}
         */
        AttemptStatus: "planned" | "waiting" | "running" | "completed" | "failed" | "lost" | "cancelled";
        /** @description Runs planned times of the past. */
        BackfillRequest: {
            /** @description Only lists what would run. */
            dry_run?: boolean;
            /**
             * Format: date-time
             * @description From this time on.
             */
            from: string;
            /** @description Only times that were skipped; default true. */
            only_missed?: boolean | null;
            /**
             * Format: date-time
             * @description Up to this one.
             */
            to: string;
        };
        /** @description What a backfill started, or would start. */
        BackfillResult: {
            /**
             * Format: int64
             * @description How many.
             */
            count: number;
            /** @description Why not all of them were started; those listed here were. */
            error?: string | null;
            /** @description The ledger is no longer complete before this time: some skipped times may be missing. */
            ledger_from?: string | null;
            /** @description The planned times, oldest first. */
            slots: components["schemas"]["BackfilledSlot"][];
        };
        /** @description A planned time of the past. */
        BackfilledSlot: {
            /** @description What was started; null in a dry run. */
            execution_id?: string | null;
            /** @description The planned time. */
            nominal: string;
        };
        /** @description Backs up all data to a new SQLite file while the server runs. */
        BackupRequest: {
            /**
             * @description A file that does not exist yet, in the server's directory for backups (`--backup-dir`); a
             *     relative path starts there.
             */
            to: string;
        };
        /** @description A finished backup. */
        BackupResult: {
            /**
             * Format: int64
             * @description Its size.
             */
            bytes: number;
            /**
             * Format: int64
             * @description How long it took.
             */
            duration_ms: number;
            /** @description The file, as an absolute path. */
            path: string;
        };
        /** @description One item of a batch. */
        BatchItem: {
            /** @description Such as `30s`. */
            delay?: string | null;
            /** @description Its own idempotency key. */
            idempotency_key?: string | null;
            /** @description The input; absent = `{}`. */
            input?: components["schemas"]["Input"];
            /**
             * Format: int32
             * @description 1 (first) to 10 (last).
             */
            priority?: number | null;
        };
        /** @description The result of one item of a batch; exactly one of the two is present. */
        BatchResult: {
            accepted?: components["schemas"]["Accepted"] | null;
            problem?: components["schemas"]["Problem"] | null;
        };
        /**
         * @description What a person has said of a circuit breaker.
         * @enum {string}
         */
        BreakerForced: "open" | "closed";
        /**
         * @description Where the circuit breaker of a target stands: calls are made; none is; one tries the target; they come back by and by.
         * @enum {string}
         */
        BreakerState: "closed" | "open" | "half_open" | "closing";
        /**
         * @description What a bulk job does.
         * @enum {string}
         */
        BulkAction: "retry" | "delete" | "purge" | "cancel" | "pause" | "resume" | "run_again";
        /** @description Does something with many dead letters, as a job of the server. Either `ids` or `filter` says with which. */
        BulkDeadLetters: {
            /** @description `retry`, `delete` (they are not retried any more) or `purge` (they go for good, with their executions). */
            action: string;
            /** @description Only say how many those are, and what would become of ten of them. */
            dry_run?: boolean;
            filter?: components["schemas"]["DeadLetterFilter"] | null;
            /** @description For `retry`: `start` (default; newest definition) or `failed_step` (original definition). */
            from?: string | null;
            /** @description These, at most 10,000, none twice. */
            ids?: string[] | null;
            /** @description For `purge`: those that are pending, too. */
            include_pending?: boolean | null;
            /**
             * Format: int32
             * @description How many a second at most, 1 to 10,000; default 50.
             */
            rate?: number | null;
            /** @description For `retry`: whether the workflow's automatic retries apply; without it each is made once. */
            retries?: boolean | null;
            transform?: components["schemas"]["BulkTransform"] | null;
        };
        /** @description Does something with many executions, as a job of the server. Either `ids` or `filter` says with which. */
        BulkExecutions: {
            /** @description `cancel`, `pause`, `resume` or `run_again`. */
            action: string;
            /** @description For `cancel`: undo completed steps first. */
            compensate?: boolean | null;
            /** @description Only say how many those are, and what would become of ten of them. */
            dry_run?: boolean;
            filter?: components["schemas"]["ExecutionFilter"] | null;
            /** @description These, at most 10,000, none twice. */
            ids?: string[] | null;
            /**
             * Format: int32
             * @description How many a second at most, 1 to 10,000; default 50.
             */
            rate?: number | null;
        };
        /** @description What became of one thing of a bulk job. */
        BulkItem: {
            /** @description When. */
            at: string;
            /** @description Why it was not done. */
            detail?: string | null;
            /** @description The execution that was started for it. */
            execution_id?: string | null;
            /** @description The dead letter or the execution. */
            id: string;
            /** @description What became of it. */
            outcome: components["schemas"]["BulkOutcome"];
        };
        /** @description A bulk job. */
        BulkJob: {
            /** @description What it does with each thing. */
            action: components["schemas"]["BulkAction"];
            /** @description For `cancel`: whether completed steps are undone. */
            compensate?: boolean | null;
            /** @description When it was made. What came later is none of its business. */
            created_at: string;
            /** @description Who made it. */
            created_by: string;
            /**
             * Format: int64
             * @description How many have their outcome.
             */
            done: number;
            /** @description When it ended. */
            ended_at?: string | null;
            /**
             * Format: int64
             * @description How many could not be done.
             */
            failed: number;
            /** @description The filter that says with which, by name; null if they are named by their ids. */
            filter?: {
                [key: string]: string;
            } | null;
            /** @description For `retry`: `start` or `failed_step`. */
            from?: string | null;
            /** @description `bulk_…` */
            id: string;
            /**
             * Format: int64
             * @description How many things are named by their ids.
             */
            ids?: number | null;
            /** @description For `purge`: whether pending ones go, too. */
            include_pending?: boolean | null;
            /**
             * Format: int64
             * @description How many were done.
             */
            ok: number;
            /**
             * Format: int32
             * @description How many a second at most.
             */
            rate: number;
            /** @description For `retry`: whether the workflow's automatic retries apply. */
            retries?: boolean | null;
            /**
             * Format: int64
             * @description For how many there was nothing to do.
             */
            skipped: number;
            /** @description Where it stands. */
            state: components["schemas"]["BulkState"];
            /**
             * Format: int64
             * @description How many things it was about when it was made; null if that was not counted.
             */
            total?: number | null;
            transform?: components["schemas"]["BulkTransform"] | null;
            /** @description When it moved last. */
            updated_at: string;
        };
        /**
         * @description What became of a thing of a bulk job.
         * @enum {string}
         */
        BulkOutcome: "ok" | "failed" | "skipped";
        /** @description What a bulk job would do. */
        BulkPreview: {
            /** @description Whether there may be more than were counted. */
            at_least?: boolean;
            /**
             * Format: int64
             * @description How many things it is about.
             */
            count: number;
            /** @description What would become of some of them, the newest. */
            sample: components["schemas"]["BulkSample"][];
        };
        /** @description What would become of one thing. */
        BulkSample: {
            /**
             * @description For `retry` the input that it would be retried with, else the status afterwards; null if it would be gone.
             *     Absent if there is an error.
             */
            after?: unknown;
            /** @description For `retry` the input as it is, else the status. */
            before: unknown;
            /** @description Why it would not be done. */
            error?: string | null;
            /** @description The dead letter or the execution. */
            id: string;
        };
        /** @description A bulk job is saved and begins. */
        BulkStarted: {
            /** @description `bulk_…` */
            id: string;
        };
        /**
         * @description Where a bulk job stands.
         * @enum {string}
         */
        BulkState: "running" | "paused" | "cancelled" | "completed";
        /** @description How the inputs of dead letters change; one of the two. */
        BulkTransform: {
            /** @description A JSON merge patch. */
            merge?: unknown;
            /** @description The whole input. */
            template?: unknown;
        };
        /** @description What a target says about the call that it accepted. Other fields are kept. */
        CallbackBody: {
            /**
             * Format: int32
             * @description How far it is, in percent.
             */
            progress?: number | null;
            /** @description How far it is, in words; cut after 500 bytes. */
            progressMessage?: string | null;
            /**
             * @description How the target can be asked: `{"type": "http", "config": {"url", "method", "headers", "timeout"}}`.
             *     It is kept encrypted; the values of its headers are never shown.
             */
            queryConfig?: unknown;
            /** @description What came of it. */
            result?: unknown;
            /** @description How it stands. */
            status: components["schemas"]["CallbackWord"];
        };
        /**
         * @description What a target has said so far: nothing yet is `pending`.
         * @enum {string}
         */
        CallbackStatus: "pending" | "processing" | "success" | "failed";
        /**
         * @description What a target says when it calls back.
         * @enum {string}
         */
        CallbackWord: "processing" | "success" | "failed";
        /** @description One change. */
        Change: {
            /** @description `added`, `removed` or `changed` */
            kind: string;
            /** @description What is there now. */
            new?: unknown;
            /** @description What was there. */
            old?: unknown;
            /** @description Such as `steps[tickets].config.url`. */
            path: string;
        };
        /** @description A way to tell people. */
        Channel: {
            broken?: components["schemas"]["ChannelBroken"] | null;
            /** @description The settings of its type; secrets are shown as `***`. */
            config: unknown;
            /** @description When it was made. */
            created_at: string;
            /** @description Whether anything is sent through it. */
            enabled: boolean;
            /** @description Its id, `chn_…`. */
            id: string;
            /** @description What it is told of; empty = everything. */
            kinds: components["schemas"]["NoticeKind"][];
            /** @description The language of its messages. */
            language: components["schemas"]["ChannelLanguage"];
            /** @description What people call it. */
            name: string;
            /** @description What a new `webhook` channel signs with, if the server chose it. It is shown this once. */
            secret?: string | null;
            /** @description Where its messages go. */
            type: components["schemas"]["ChannelType"];
            /** @description When it was changed last. */
            updated_at: string;
            /**
             * Format: int32
             * @description Counts its changes; send it as `If-Match` to change only what you have seen.
             */
            version: number;
            /** @description About which workflows, by name or by the beginning of names and `*`; empty = all. */
            workflows: string[];
        };
        /** @description Why nothing gets through a channel. */
        ChannelBroken: {
            /** @description Its code, such as `404`. */
            code?: string | null;
            /** @description What went wrong. */
            error: string;
            /** @description The message that was given up. */
            notification_id: string;
            /** @description When. */
            since: string;
        };
        /**
         * @description The language of a channel's messages.
         * @enum {string}
         */
        ChannelLanguage: "en" | "zh-TW";
        /** @description What a service would be sent. */
        ChannelPreview: {
            /** @description The body of the call; null for mail. */
            body?: unknown;
            /** @description The mail as HTML. */
            html?: string | null;
            /** @description The subject of the mail. */
            subject?: string | null;
            /** @description The mail as text. */
            text?: string | null;
        };
        /**
         * @description Where a channel's messages go.
         * @enum {string}
         */
        ChannelType: "teams" | "slack" | "email" | "webhook" | "pagerduty";
        /** @description A step that undid a completed one, or should have. */
        Compensation: {
            /** @description When it ended. */
            completed_at?: string | null;
            error?: components["schemas"]["ErrorInfo"] | null;
            /** @description `completed` = undone; `failed` = not; other statuses of a step while it is under way. */
            status: components["schemas"]["StepStatus"];
            /** @description The step. */
            step_id: string;
            /** @description The completed step that it undoes. */
            undoes: string;
        };
        /** @description A completed step that could not be undone. */
        CompensationFailure: {
            /** @description Why. */
            error: components["schemas"]["ErrorInfo"];
            /** @description The step that should have undone it. */
            step_id: string;
            /** @description The step whose effect is still there. */
            undoes: string;
        };
        /** @description The last executions of a cron trigger. */
        CronHistory: {
            /** @description The expression; null for a `schedule`. */
            cron_expression?: string | null;
            /** @description Whether it starts anything. */
            enabled: boolean;
            /** @description What it started, newest first. */
            history: components["schemas"]["CronRun"][];
            /** @description The next planned time. */
            next_execution?: string | null;
            /** @description The zone of all times here. */
            timezone: string;
            /** @description The trigger. */
            trigger_id: string;
            /** @description `cron` or `schedule` */
            trigger_type: components["schemas"]["TriggerType"];
            /** @description The workflow. */
            workflow_id: string;
        };
        /** @description One execution of a cron trigger. */
        CronRun: {
            /** @description When it ended. */
            completed_at?: string | null;
            /**
             * Format: int64
             * @description From start to end.
             */
            duration_ms?: number | null;
            /** @description The execution. */
            execution_id: string;
            /** @description The output: a text as it is, other JSON cut to 200 characters; the error's message if it failed. */
            result?: string | null;
            /** @description The planned time. */
            scheduled_at: string;
            /** @description When its first attempt began. */
            started_at?: string | null;
            /** @description The execution's status; `removed` if it is no longer kept. */
            status: components["schemas"]["RunStatus"];
        };
        /** @description A dead letter. */
        DeadLetter: {
            /** @description When the dead letter was created. */
            created_at: string;
            /** @description When it was deleted. */
            deleted_at?: string | null;
            /** @description By whom. */
            deleted_by?: string | null;
            /** @description The HTTP status or the task's own code. */
            error_code?: string | null;
            /** @description One sentence. */
            error_message: string;
            /** @description The causes, one a line. */
            error_stacktrace?: string | null;
            /** @description The failure's class. */
            error_type: string;
            /** @description The failed execution. */
            execution_id: string;
            /** @description When the execution failed. */
            failed_at: string;
            /** @description Equal for failures with the same cause. */
            fingerprint: string;
            /** @description `dlq_…` */
            id: string;
            /** @description The failed execution's input. */
            input_data: unknown;
            /**
             * Format: int32
             * @description Retries that the policy allowed.
             */
            max_retries: number;
            /** @description Why it became one. */
            reason: components["schemas"]["LetterReason"];
            /** @description The execution that resolved it; null until one has. */
            resolution_execution_id?: string | null;
            /** @description When it was resolved. */
            resolved_at?: string | null;
            /** @description Who had retried it. */
            resolved_by?: string | null;
            /** @description The last retry by a person. */
            retry_attempted_at?: string | null;
            /** @description Who made it. */
            retry_attempted_by?: string | null;
            /**
             * Format: int32
             * @description Retries that were made.
             */
            retry_count: number;
            /** @description The failed attempts, oldest first. */
            retry_history: components["schemas"]["RetryHistoryEntry"][];
            /** @description Where it stands. */
            status: components["schemas"]["LetterStatus"];
            /** @description The step that failed. */
            step_id?: string | null;
            /** @description What to try, most likely first. */
            suggestions: components["schemas"]["SuggestedFix"][];
            /** @description The same in 繁體中文, in the same order. */
            suggestions_zh?: components["schemas"]["SuggestedFix"][];
            /** @description Who was called last: the host, with the port unless that is the scheme's own. */
            target?: string | null;
            /** @description Whether the workflow was deleted since: nothing of it can run until it is saved again. */
            workflow_deleted?: boolean;
            /** @description Its workflow. */
            workflow_id: string;
            /** @description The workflow's name at the time. */
            workflow_name: string;
        };
        /** @description A dead letter with everything about it: what a list has of it, and more. */
        DeadLetterDetail: components["schemas"]["DeadLetter"] & components["schemas"]["DeadLetterMore"];
        /** @description Which dead letters, as in the list. Lists may also be written as one text with commas. */
        DeadLetterFilter: {
            /** @description `true`: only those that are archived, `all`: those, too. */
            archived?: string | null;
            /** @description With one of these classes of error. */
            error_type?: string[] | null;
            /** @description With this cause. */
            fingerprint?: string | null;
            /**
             * Format: date-time
             * @description That failed at or after this time.
             */
            from?: string | null;
            /** @description Whose message, workflow, code or step contains this. */
            q?: string | null;
            /** @description With one of these statuses; default `pending` and `retrying`, for `purge` `resolved` and `deleted`. */
            status?: components["schemas"]["LetterStatus"][] | null;
            /**
             * Format: date-time
             * @description That failed before this time.
             */
            to?: string | null;
            /** @description Of this workflow. */
            workflow_id?: string | null;
        };
        /** @description Letters of one workflow with one error. */
        DeadLetterGroup: {
            /**
             * Format: int64
             * @description How many.
             */
            count: number;
            /** @description Its code. */
            error_code?: string | null;
            /** @description The failure's class. */
            error_type: string;
            /** @description The workflow. */
            workflow_id: string;
        };
        /** @description What is told of a dead letter that is asked for by its id. */
        DeadLetterMore: {
            /**
             * @description Whether a retry can go on from the failed step now: not after completed steps were undone, not
             *     when no step failed, and not unless it is pending.
             */
            can_retry_from_failed_step?: boolean;
            /** @description Whether a retry from the start can work now; false unless it is pending. */
            can_retry_from_start?: boolean;
            /** @description Those of them that failed: the completed steps whose effect is still there, and why. */
            compensation_failures?: components["schemas"]["CompensationFailure"][];
            /** @description The steps that undid completed ones, or should have, in the order they were begun. */
            compensations?: components["schemas"]["Compensation"][];
            /** @description The failed execution's log. */
            events: components["schemas"]["Event"][];
            /** @description What the last retry by a person changed in the input; empty = nothing or no retry. */
            input_changes: components["schemas"]["Change"][];
            response?: components["schemas"]["TargetResponse"] | null;
            /** @description Retries by people, oldest first, the last 50. */
            retries?: components["schemas"]["DeadLetterRetry"][];
            /** @description Why a retry cannot work, and what helps; null when one from the start can. */
            retry_obstacle?: string | null;
            /**
             * Format: int64
             * @description Other pending letters with the same cause.
             */
            same_cause: number;
            /** @description The planned time that it was started for, if it was one. */
            scheduled_at?: string | null;
            /** @description The trigger object, if there is one. */
            trigger_id?: string | null;
            trigger_type?: components["schemas"]["StartedBy"] | null;
            /** @description Who started it. */
            triggered_by?: string | null;
        };
        /** @description A dead letter is being retried. */
        DeadLetterRetried: {
            /** @description The new execution. */
            execution_id: string;
            /** @description The letter. */
            id: string;
            /** @description `retrying` */
            status: components["schemas"]["LetterStatus"];
        };
        /** @description A retry of a dead letter by a person. */
        DeadLetterRetry: {
            /** @description What it completed and could not undo. */
            compensation_failures?: components["schemas"]["CompensationFailure"][];
            /** @description Whether its input was edited; null where that was not kept. */
            edited?: boolean | null;
            /** @description When it ended. */
            ended_at?: string | null;
            error?: components["schemas"]["ErrorInfo"] | null;
            /** @description The execution that it is. */
            execution_id: string;
            /** @description `start` or `failed_step`; null where that was not kept. */
            from?: string | null;
            /**
             * @description The edited input. Absent if it was not edited, if its execution is gone, or if the inputs of
             *     later retries take more than 4 MiB: then the execution shows it.
             */
            input?: unknown;
            /** @description What was edited. */
            input_changes?: components["schemas"]["Change"][];
            outcome?: components["schemas"]["ExecutionStatus"] | null;
            /** @description When it was asked for. */
            retried_at: string;
            /** @description By whom. */
            retried_by: string;
        };
        /** @description An overview of dead letters. */
        DeadLetterSummary: {
            /**
             * Format: int64
             * @description How many.
             */
            count: number;
            /** @description By workflow and error, most first. */
            groups: components["schemas"]["DeadLetterGroup"][];
            /** @description When the newest failed. */
            newest?: string | null;
            /** @description When the oldest failed. */
            oldest?: string | null;
        };
        /** @description Enables a trigger. */
        EnableTrigger: {
            /** @description Whether the times planned during the pause are started as `misfire` says. */
            catch_up?: boolean | null;
        };
        /** @description A failure. */
        ErrorInfo: {
            /** @description The causes below it, outermost first. */
            causes?: string[];
            /** @description The HTTP status or the task's own code. */
            code?: string | null;
            /** @description One sentence for a person. */
            message: string;
            /** @description Whether the policy retries this kind. */
            retryable: boolean;
            /** @description Who was called: the host, with the port unless that is the scheme's own. */
            target?: string | null;
            /** @description The class, such as `http_status` or `read_timeout`. */
            type: string;
        };
        /** @description One entry of an execution's log. */
        Event: {
            /**
             * Format: int32
             * @description The attempt it is about; on RETRY_SCHEDULED the attempt to come.
             */
            attempt_number?: number | null;
            /**
             * Format: int64
             * @description The wait before the attempt to come.
             */
            backoff_delay_ms?: number | null;
            /** @description Such as `STEP_COMPLETED`. */
            event_type: string;
            /** @description Why, in one sentence. */
            failure_reason?: string | null;
            /** @description What belongs to it. */
            payload: unknown;
            /**
             * Format: int64
             * @description Counted from 1 without gaps.
             */
            sequence: number;
            /** @description The step it is about. */
            step_id?: string | null;
            /** @description When it was recorded. */
            timestamp: string;
        };
        /** @description An execution. */
        Execution: {
            /** @description When it ended. */
            completed_at?: string | null;
            /** @description When it was accepted. */
            created_at: string;
            /** @description Did not begin before. */
            delay_until?: string | null;
            /** @description The dead letter made of it. */
            dlq_entry_id?: string | null;
            /**
             * Format: int64
             * @description From start to end.
             */
            duration_ms?: number | null;
            error?: components["schemas"]["ErrorInfo"] | null;
            /** @description `exec_…` */
            execution_id: string;
            /** @description The caller's idempotency key. */
            idempotency_key?: string | null;
            /** @description The input; absent in lists. */
            input?: unknown;
            /**
             * Format: int32
             * @description Retries that step may have.
             */
            max_retries: number;
            /** @description When its next attempt is due. */
            next_retry_at?: string | null;
            /** @description The output of a completed execution; absent in lists. */
            output?: unknown;
            /** @description The dead letter it retries. */
            parent_dlq_entry_id?: string | null;
            /** @description The execution that it repeats: a retry of its dead letter, or run again. */
            parent_execution_id?: string | null;
            parked?: components["schemas"]["Parked"] | null;
            /** @description `compensating` while completed steps are being undone. */
            phase?: string | null;
            /**
             * Format: int32
             * @description 1 (first) to 10 (last).
             */
            priority: number;
            retry_context?: components["schemas"]["RetryContext"] | null;
            /**
             * Format: int32
             * @description Retries so far of the step that failed last.
             */
            retry_count: number;
            /** @description The planned time that it was started for, if it was one. */
            scheduled_at?: string | null;
            /** @description When its first attempt began. */
            started_at?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["ExecutionStatus"];
            /** @description Its steps in the definition's order; empty in lists. */
            steps?: components["schemas"]["Step"][];
            /** @description The trace that the calls of its steps belong to: the caller's, if it sent a `traceparent`. */
            trace_id?: string | null;
            /** @description The trigger object, if there is one. */
            trigger_id?: string | null;
            /** @description What started it. */
            trigger_type: components["schemas"]["StartedBy"];
            /** @description Who started it. */
            triggered_by?: string | null;
            /** @description The workflow. */
            workflow_id: string;
            /**
             * Format: int32
             * @description The version of its definition that this execution keeps.
             */
            workflow_version: number;
        };
        /** @description How many executions there are. */
        ExecutionCount: {
            /** @description The same by status; a status that no execution has is absent. */
            by_status: {
                [key: string]: number;
            };
            /** @description Whether those are all. */
            exact: boolean;
            /**
             * @description Present if 10,000 executions were looked at and there may be more of them: those were counted that
             *     were created since this time.
             */
            searched_to?: string | null;
            /**
             * Format: int64
             * @description How many were counted; 10,000 at most.
             */
            total: number;
        };
        /** @description Executions by their status. */
        ExecutionCounts: {
            /** @description By status. */
            by_status: {
                [key: string]: number;
            };
            /** @description Whether these are all; of many the newest 10,000 are counted. */
            exact: boolean;
            /**
             * Format: int64
             * @description How many.
             */
            total: number;
        };
        /** @description Which executions, as in the list. Lists may also be written as one text with commas. */
        ExecutionFilter: {
            /** @description That failed with one of these classes of error. */
            error_type?: string[] | null;
            /**
             * Format: date-time
             * @description Created at or after this time.
             */
            from?: string | null;
            /** @description Started with this idempotency key. */
            key?: string | null;
            /** @description Whose error's message or code, or workflow, contains this. */
            q?: string | null;
            /**
             * @description With one of these statuses. Default for `cancel` and `pause`: those that are open; for `resume`: `paused`;
             *     for `run_again`: `failed`, `dlq` and `cancelled`.
             */
            status?: components["schemas"]["ExecutionStatus"][] | null;
            /**
             * Format: date-time
             * @description Created before this time.
             */
            to?: string | null;
            /** @description Started by this trigger. */
            trigger?: string | null;
            /** @description Started in one of these ways. */
            trigger_type?: string[] | null;
            /**
             * Format: int32
             * @description Of this version of their workflow.
             */
            version?: number | null;
            /** @description Of one of these workflows; a `*` at the end stands for any rest of a name. */
            workflow?: string[] | null;
        };
        /** @description A page of executions. */
        ExecutionPage: {
            /** @description The executions, newest first. */
            items: components["schemas"]["Execution"][];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
            /**
             * @description Present if 10,000 executions were looked at before the page was full: it has what was created since
             *     this time, and `next_cursor` searches on.
             */
            searched_to?: string | null;
        };
        /** @description An execution is run again. */
        ExecutionRunAgain: {
            /** @description The new one. */
            execution_id: string;
            /** @description The execution as it was. */
            id: string;
        };
        /**
         * @description Where an execution stands.
         * @enum {string}
         */
        ExecutionStatus: "pending" | "running" | "retrying" | "waiting" | "paused" | "completed" | "failed" | "dlq" | "cancelled";
        /** @description A worker's wish to have its task for longer. */
        ExtendTask: {
            /**
             * Format: int64
             * @description So long from now, but not beyond the attempt's time.
             */
            seconds: number;
        };
        /** @description A worker's word that its task failed. */
        FailTask: {
            /** @description What went wrong, for people. */
            message?: string;
            /**
             * Format: int64
             * @description The next attempt shall wait so long at least; of more than an hour, an hour counts.
             */
            retryAfterSeconds?: number | null;
            /** @description Whether another attempt may help. Default: true. */
            retryable?: boolean | null;
            /** @description Where, line by line. */
            stackTrace?: string | null;
        };
        /** @description A field that is wrong. */
        FieldProblem: {
            /**
             * Format: int32
             * @description The column in the definition.
             */
            column?: number | null;
            /** @description Such as `steps[1].needs[0]` or `priority`. */
            field: string;
            /** @description What would be right. */
            hint?: string | null;
            /**
             * Format: int32
             * @description The line in the definition.
             */
            line?: number | null;
            /** @description What is wrong with it. */
            message: string;
        };
        /**
         * @description What a search finds.
         * @enum {string}
         */
        Found: "execution" | "dead_letter" | "trigger" | "workflow" | "scheduled_task" | "external_task" | "worker" | "node";
        /** @description Whether the server is healthy. */
        Health: {
            /** @description `ok`, or why not. */
            status: string;
        };
        /** @description A worker's word that it is still at it. */
        Heartbeat: {
            /**
             * Format: int32
             * @description How far it is, in percent.
             */
            progress?: number | null;
            /** @description How far it is, in words. */
            progressMessage?: string | null;
        };
        /** @description One thing that was found. */
        Hit: {
            /** @description Its id. */
            id: string;
            /** @description What it is. */
            kind: components["schemas"]["Found"];
            /** @description Its page in the console. */
            path: string;
            /** @description Where it stands, in the words of its kind. */
            status?: string | null;
            /** @description What people call it. */
            title: string;
        };
        /** @description A schedule in words. */
        InWords: {
            /** @description In English. */
            en: string;
            /** @description 繁體中文。 */
            "zh-TW": string;
        };
        /** @description Any JSON but null */
        Input: Record<string, never> | unknown[] | string | number | boolean;
        /** @description A condition of a webhook with what it found. */
        JudgedCondition: {
            /** @description Why not. */
            error?: string | null;
            /** @description What it found; null if there is nothing. Of a long value a text with its beginning. */
            found: unknown;
            /** @description Where it looks. */
            json_path: string;
            /** @description How it compares. */
            operator: string;
            /** @description Whether it is fulfilled. */
            passed: boolean;
            /** @description What it compares with; null for `exists` and `not_exists`. */
            value: unknown;
        };
        /** @description What happened at a planned time, or at several consecutive ones. */
        LedgerEntry: {
            /** @description When that was done or found. */
            at: string;
            /**
             * Format: int64
             * @description How many there are.
             */
            count: number;
            /** @description What was started. */
            execution_id?: string | null;
            /** @description The planned time in the trigger's zone, with its offset. */
            local: string;
            /** @description The last one likewise. */
            local_to: string;
            /** @description The planned time, or the first of the stretch. */
            nominal: string;
            /** @description Why: `overlap, paused, missed, dst, dropped, behind, backfill` */
            reason?: string | null;
            /** @description What became of it. */
            status: components["schemas"]["SlotStatus"];
            /** @description The last planned time of the stretch. */
            to: string;
        };
        /** @description Dead letters. */
        LetterCounts: {
            /**
             * Format: int64
             * @description Those that wait and failed more than 30 days ago.
             */
            archived?: number;
            /**
             * Format: int64
             * @description Letters that came within the range, whatever became of them; counted up to 10,000.
             */
            new_in_range: number;
            /** @description When the newest of them failed. */
            newest?: string | null;
            /** @description When the oldest of them failed. */
            oldest?: string | null;
            /**
             * Format: int64
             * @description Those that wait and are not archived.
             */
            pending: number;
        };
        /**
         * @description Why an execution became a dead letter.
         * @enum {string}
         */
        LetterReason: "exhausted" | "non_retryable" | "timeout" | "node_lost" | "lock_expired" | "heartbeat_missed" | "compensation_failed" | "history_limit";
        /**
         * @description Where a dead letter stands.
         * @enum {string}
         */
        LetterStatus: "pending" | "retrying" | "resolved" | "deleted";
        /** @description What begins a session of the console: a key, or what a one-time link has behind `#t=`. */
        LogIn: {
            /** @description An API key. */
            key?: string | null;
            /** @description The token of a one-time link. */
            token?: string | null;
        };
        MaybeAddress: string | null;
        /** @description What happened within a range, step by step. */
        MinuteStats: {
            /** @description When the first step begins. */
            from: string;
            /** @description One for each step, the oldest first, also where nothing happened. */
            points: components["schemas"]["StatsPoint"][];
            /** @description The length of a step. */
            step: string;
            /** @description Where it ends. */
            to: string;
            /** @description All of it together. */
            total: components["schemas"]["StatsNumbers"];
            /** @description Only of this workflow; null = all. */
            workflow?: string | null;
        };
        /** @description A process that runs executions. Several share one PostgreSQL; on SQLite there is one. */
        Node: {
            /** @description Where it listens. */
            address: string;
            /**
             * Format: double
             * @description How long all but one of a hundred of its newest commits took at most, in milliseconds; only of the
             *     node that answers.
             */
            commit_ms_p99?: number | null;
            /** @description When the other nodes may take over its work, if it stays silent until then. */
            expires_at: string;
            /**
             * Format: int64
             * @description Work that it holds and has not begun, such as waits that end soon.
             */
            holding: number;
            /** @description Whether it is the one that answers. */
            is_this: boolean;
            /** @description Its name for people, `--node-name`. */
            name: string;
            /** @description The process; a new one with every start, and after a lost lease. */
            node_id: string;
            /** @description When it was last heard of. */
            renewed_at: string;
            /**
             * Format: int64
             * @description Attempts in flight there.
             */
            running: number;
            /** @description When it became a node, by the database's clock. */
            started_at: string;
            /** @description The program's version. */
            version: string;
        };
        /** @description Nodes. */
        NodeCounts: {
            /**
             * Format: int64
             * @description Those whose lease holds.
             */
            alive: number;
        };
        /**
         * @description What people are told of.
         * @enum {string}
         */
        NoticeKind: "dead_letter.created" | "dead_letter.resolved" | "trigger.overdue" | "trigger.recovered" | "trigger.missed" | "breaker.opened" | "breaker.closed" | "alert.firing" | "alert.resolved";
        /** @description A message to people, and how far it is. */
        Notification: {
            /**
             * Format: int32
             * @description Attempts that have begun.
             */
            attempts: number;
            /** @description The channel. */
            channel_id: string;
            /** @description The channel's name; null if it was removed. */
            channel_name?: string | null;
            channel_type?: components["schemas"]["ChannelType"] | null;
            /**
             * Format: int64
             * @description How many notices it tells of.
             */
            count: number;
            /** @description When it was made. */
            created_at: string;
            /** @description What went wrong last. */
            error?: string | null;
            /** @description Its code, such as `429`. */
            error_code?: string | null;
            /** @description The execution that sends it, with all attempts in its events. */
            execution_id: string;
            /** @description The group that it is of. */
            group_id?: string | null;
            /** @description Its id, `ntf_…`. The service that gets it sees it too. */
            id: string;
            /**
             * Format: int64
             * @description How many of them are new since the message before.
             */
            increase: number;
            /** @description What it is about. */
            kind: components["schemas"]["NoticeKind"];
            /** @description When the next one is due. */
            next_attempt_at?: string | null;
            /** @description Which message of its group it is. */
            phase: components["schemas"]["NotificationPhase"];
            /** @description The message that it repeats. */
            repeats?: string | null;
            /** @description Who asked for it; null if nobody did. */
            requested_by?: string | null;
            /** @description `accepted` means that the service took it: most services say nothing of what comes then. */
            status: components["schemas"]["NotificationStatus"];
            /** @description What it is about, as people call it. */
            subject: string;
            /** @description When something happened to it last. */
            updated_at: string;
            /** @description The workflow that it is about. */
            workflow_id?: string | null;
        };
        /**
         * @description Which message of its group it is.
         * @enum {string}
         */
        NotificationPhase: "first" | "more" | "reminder" | "over" | "digest" | "test";
        /** @description A message that was started. */
        NotificationStarted: {
            /** @description Its id, `ntf_…`. */
            id: string;
        };
        /**
         * @description How far a message is.
         * @enum {string}
         */
        NotificationStatus: "sending" | "retrying" | "accepted" | "failed" | "cancelled";
        /** @description Open executions by their status. */
        OpenExecutions: {
            /**
             * Format: int64
             * @description Paused.
             */
            paused: number;
            /**
             * Format: int64
             * @description Not begun.
             */
            pending: number;
            /**
             * Format: int64
             * @description Waiting for a retry.
             */
            retrying: number;
            /**
             * Format: int64
             * @description With an attempt under way.
             */
            running: number;
            /**
             * Format: int64
             * @description Waiting for a worker or a callback.
             */
            waiting: number;
        };
        /** @description The whole at a glance. */
        Overview: {
            /** @description Alerts. */
            alerts?: components["schemas"]["AlertCounts"];
            /** @description Dead letters. */
            dead_letters: components["schemas"]["LetterCounts"];
            /** @description The executions that began within the range. */
            executions: components["schemas"]["ExecutionCounts"];
            /** @description Nodes. */
            nodes: components["schemas"]["NodeCounts"];
            /** @description What is open, whenever it began; each counted up to 10,000. */
            open: components["schemas"]["OpenExecutions"];
            /** @description How far back it looks. */
            range: string;
            /**
             * Format: double
             * @description The same of those that were retried.
             */
            retry_recovery?: number | null;
            storage?: components["schemas"]["Storage"] | null;
            /**
             * Format: double
             * @description Of those that have completed, failed or become dead letters, the share that completed; null
             *     while there are none.
             */
            success_rate?: number | null;
            /** @description Tasks for workers. */
            tasks: components["schemas"]["TaskCounts"];
            /** @description Triggers. */
            triggers: components["schemas"]["TriggerCounts"];
            /** @description Workers that have said who they are. */
            workers: components["schemas"]["WorkerCounts"];
        };
        /** @description One page of a list. */
        Page_Alert: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description When somebody said that he is at it. */
                acked_at?: string | null;
                /** @description Who. */
                acked_by?: string | null;
                /** @description When it began to be bad. */
                began_at: string;
                /** @description Its id, `alert_…`; the same until it is over. */
                id: string;
                /** @description What the rule watches. */
                kind: components["schemas"]["AlertKind"];
                /** @description Whether nobody is told at present: because of a silence, or because no channel wants it. */
                muted: boolean;
                /** @description The page of the console that shows it. */
                path: string;
                /** @description How far it is. */
                phase: components["schemas"]["AlertPhase"];
                /** @description What its rule is called. */
                rule: string;
                /** @description Its rule. */
                rule_id: string;
                /** @description Since when it has its phase. */
                since: string;
                /** @description What it is about: a workflow, a trigger, a worker or a host. */
                subject: string;
                /**
                 * Format: double
                 * @description What the value is compared with; null where being there is enough.
                 */
                threshold?: number | null;
                /** @description When people were told last; null if nobody was. */
                told_at?: string | null;
                /** @description What the value is. */
                unit: components["schemas"]["AlertUnit"];
                /**
                 * Format: double
                 * @description How bad it is, or was last.
                 */
                value: number;
                /** @description The value for people, such as `42.5 %`. */
                value_text: string;
                /** @description The workflow that it concerns. */
                workflow_id?: string | null;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_AlertRule: {
            /** @description The entries, in the list's order. */
            items: {
                /**
                 * Format: double
                 * @description What is still good: percent of failures, or a count.
                 */
                above?: number | null;
                /** @description How long a task or a callback may take. */
                after?: string | null;
                /** @description Whether it was there from the start. */
                built_in: boolean;
                /** @description The channels that are told, by name or id; empty = every channel that is enabled. */
                channels: string[];
                /** @description When somebody made it, or changed it first. */
                created_at?: string | null;
                /** @description Whether it is looked at. */
                enabled: boolean;
                /**
                 * Format: int64
                 * @description How many of its alerts fire.
                 */
                firing: number;
                /** @description For how long it must be bad before it fires. */
                for: string;
                /** @description Its id, `rule_…`. */
                id: string;
                /** @description What it watches. */
                kind: components["schemas"]["AlertKind"];
                /**
                 * Format: int64
                 * @description Executions that must have ended within the window for a share to mean something.
                 */
                min_count?: number | null;
                /** @description What people call it; no two rules have the same name. */
                name: string;
                /** @description How often people are reminded while it fires. */
                repeat: string;
                /** @description When it was changed last. */
                updated_at?: string | null;
                /**
                 * Format: int32
                 * @description Counts its changes; send it as `If-Match` to change only what you have seen. 0 = as it was from the start.
                 */
                version: number;
                /** @description What is allowed but probably not meant: a workflow or a channel that does not exist. */
                warnings?: string[];
                /** @description How far back it looks, such as `10m`. */
                window?: string | null;
                /** @description Only of this workflow. */
                workflow?: string | null;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_Attempt: {
            /** @description The entries, in the list's order. */
            items: {
                /**
                 * Format: int32
                 * @description Its number, from 1.
                 */
                attempt: number;
                /**
                 * Format: int64
                 * @description The policy's wait before it.
                 */
                backoff_ms?: number | null;
                /** @description Whether it undoes another step. */
                compensation: boolean;
                /** @description When it was to begin; null = at once. */
                due_at?: string | null;
                /**
                 * Format: int64
                 * @description How long it took.
                 */
                duration_ms?: number | null;
                /** @description Whether somebody did not want to wait for it. */
                early: boolean;
                /** @description When it ended. */
                ended_at?: string | null;
                error?: components["schemas"]["ErrorInfo"] | null;
                /** @description The node that makes it, or died during it. */
                node_id?: string | null;
                /** @description The beginning of what the target answered to an attempt that failed, at most 64 KiB. */
                response?: string | null;
                /** @description Whether its failure may be retried; null where it did not fail. */
                retryable?: boolean | null;
                /** @description When it was planned. */
                scheduled_at: string;
                /** @description When it began. */
                started_at?: string | null;
                /** @description Where it stands. */
                status: components["schemas"]["AttemptStatus"];
                /** @description The step. */
                step_id: string;
                /** @description Its task for workers, if it is one. */
                task_id?: string | null;
                /** @description The worker that has or had its task. */
                worker_id?: string | null;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_BatchResult: {
            /** @description The entries, in the list's order. */
            items: {
                accepted?: components["schemas"]["Accepted"] | null;
                problem?: components["schemas"]["Problem"] | null;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_BulkItem: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description When. */
                at: string;
                /** @description Why it was not done. */
                detail?: string | null;
                /** @description The execution that was started for it. */
                execution_id?: string | null;
                /** @description The dead letter or the execution. */
                id: string;
                /** @description What became of it. */
                outcome: components["schemas"]["BulkOutcome"];
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_BulkJob: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description What it does with each thing. */
                action: components["schemas"]["BulkAction"];
                /** @description For `cancel`: whether completed steps are undone. */
                compensate?: boolean | null;
                /** @description When it was made. What came later is none of its business. */
                created_at: string;
                /** @description Who made it. */
                created_by: string;
                /**
                 * Format: int64
                 * @description How many have their outcome.
                 */
                done: number;
                /** @description When it ended. */
                ended_at?: string | null;
                /**
                 * Format: int64
                 * @description How many could not be done.
                 */
                failed: number;
                /** @description The filter that says with which, by name; null if they are named by their ids. */
                filter?: {
                    [key: string]: string;
                } | null;
                /** @description For `retry`: `start` or `failed_step`. */
                from?: string | null;
                /** @description `bulk_…` */
                id: string;
                /**
                 * Format: int64
                 * @description How many things are named by their ids.
                 */
                ids?: number | null;
                /** @description For `purge`: whether pending ones go, too. */
                include_pending?: boolean | null;
                /**
                 * Format: int64
                 * @description How many were done.
                 */
                ok: number;
                /**
                 * Format: int32
                 * @description How many a second at most.
                 */
                rate: number;
                /** @description For `retry`: whether the workflow's automatic retries apply. */
                retries?: boolean | null;
                /**
                 * Format: int64
                 * @description For how many there was nothing to do.
                 */
                skipped: number;
                /** @description Where it stands. */
                state: components["schemas"]["BulkState"];
                /**
                 * Format: int64
                 * @description How many things it was about when it was made; null if that was not counted.
                 */
                total?: number | null;
                transform?: components["schemas"]["BulkTransform"] | null;
                /** @description When it moved last. */
                updated_at: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_Channel: {
            /** @description The entries, in the list's order. */
            items: {
                broken?: components["schemas"]["ChannelBroken"] | null;
                /** @description The settings of its type; secrets are shown as `***`. */
                config: unknown;
                /** @description When it was made. */
                created_at: string;
                /** @description Whether anything is sent through it. */
                enabled: boolean;
                /** @description Its id, `chn_…`. */
                id: string;
                /** @description What it is told of; empty = everything. */
                kinds: components["schemas"]["NoticeKind"][];
                /** @description The language of its messages. */
                language: components["schemas"]["ChannelLanguage"];
                /** @description What people call it. */
                name: string;
                /** @description What a new `webhook` channel signs with, if the server chose it. It is shown this once. */
                secret?: string | null;
                /** @description Where its messages go. */
                type: components["schemas"]["ChannelType"];
                /** @description When it was changed last. */
                updated_at: string;
                /**
                 * Format: int32
                 * @description Counts its changes; send it as `If-Match` to change only what you have seen.
                 */
                version: number;
                /** @description About which workflows, by name or by the beginning of names and `*`; empty = all. */
                workflows: string[];
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_DeadLetter: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description When the dead letter was created. */
                created_at: string;
                /** @description When it was deleted. */
                deleted_at?: string | null;
                /** @description By whom. */
                deleted_by?: string | null;
                /** @description The HTTP status or the task's own code. */
                error_code?: string | null;
                /** @description One sentence. */
                error_message: string;
                /** @description The causes, one a line. */
                error_stacktrace?: string | null;
                /** @description The failure's class. */
                error_type: string;
                /** @description The failed execution. */
                execution_id: string;
                /** @description When the execution failed. */
                failed_at: string;
                /** @description Equal for failures with the same cause. */
                fingerprint: string;
                /** @description `dlq_…` */
                id: string;
                /** @description The failed execution's input. */
                input_data: unknown;
                /**
                 * Format: int32
                 * @description Retries that the policy allowed.
                 */
                max_retries: number;
                /** @description Why it became one. */
                reason: components["schemas"]["LetterReason"];
                /** @description The execution that resolved it; null until one has. */
                resolution_execution_id?: string | null;
                /** @description When it was resolved. */
                resolved_at?: string | null;
                /** @description Who had retried it. */
                resolved_by?: string | null;
                /** @description The last retry by a person. */
                retry_attempted_at?: string | null;
                /** @description Who made it. */
                retry_attempted_by?: string | null;
                /**
                 * Format: int32
                 * @description Retries that were made.
                 */
                retry_count: number;
                /** @description The failed attempts, oldest first. */
                retry_history: components["schemas"]["RetryHistoryEntry"][];
                /** @description Where it stands. */
                status: components["schemas"]["LetterStatus"];
                /** @description The step that failed. */
                step_id?: string | null;
                /** @description What to try, most likely first. */
                suggestions: components["schemas"]["SuggestedFix"][];
                /** @description The same in 繁體中文, in the same order. */
                suggestions_zh?: components["schemas"]["SuggestedFix"][];
                /** @description Who was called last: the host, with the port unless that is the scheme's own. */
                target?: string | null;
                /** @description Whether the workflow was deleted since: nothing of it can run until it is saved again. */
                workflow_deleted?: boolean;
                /** @description Its workflow. */
                workflow_id: string;
                /** @description The workflow's name at the time. */
                workflow_name: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_Event: {
            /** @description The entries, in the list's order. */
            items: {
                /**
                 * Format: int32
                 * @description The attempt it is about; on RETRY_SCHEDULED the attempt to come.
                 */
                attempt_number?: number | null;
                /**
                 * Format: int64
                 * @description The wait before the attempt to come.
                 */
                backoff_delay_ms?: number | null;
                /** @description Such as `STEP_COMPLETED`. */
                event_type: string;
                /** @description Why, in one sentence. */
                failure_reason?: string | null;
                /** @description What belongs to it. */
                payload: unknown;
                /**
                 * Format: int64
                 * @description Counted from 1 without gaps.
                 */
                sequence: number;
                /** @description The step it is about. */
                step_id?: string | null;
                /** @description When it was recorded. */
                timestamp: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_LedgerEntry: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description When that was done or found. */
                at: string;
                /**
                 * Format: int64
                 * @description How many there are.
                 */
                count: number;
                /** @description What was started. */
                execution_id?: string | null;
                /** @description The planned time in the trigger's zone, with its offset. */
                local: string;
                /** @description The last one likewise. */
                local_to: string;
                /** @description The planned time, or the first of the stretch. */
                nominal: string;
                /** @description Why: `overlap, paused, missed, dst, dropped, behind, backfill` */
                reason?: string | null;
                /** @description What became of it. */
                status: components["schemas"]["SlotStatus"];
                /** @description The last planned time of the stretch. */
                to: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_Node: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description Where it listens. */
                address: string;
                /**
                 * Format: double
                 * @description How long all but one of a hundred of its newest commits took at most, in milliseconds; only of the
                 *     node that answers.
                 */
                commit_ms_p99?: number | null;
                /** @description When the other nodes may take over its work, if it stays silent until then. */
                expires_at: string;
                /**
                 * Format: int64
                 * @description Work that it holds and has not begun, such as waits that end soon.
                 */
                holding: number;
                /** @description Whether it is the one that answers. */
                is_this: boolean;
                /** @description Its name for people, `--node-name`. */
                name: string;
                /** @description The process; a new one with every start, and after a lost lease. */
                node_id: string;
                /** @description When it was last heard of. */
                renewed_at: string;
                /**
                 * Format: int64
                 * @description Attempts in flight there.
                 */
                running: number;
                /** @description When it became a node, by the database's clock. */
                started_at: string;
                /** @description The program's version. */
                version: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_Notification: {
            /** @description The entries, in the list's order. */
            items: {
                /**
                 * Format: int32
                 * @description Attempts that have begun.
                 */
                attempts: number;
                /** @description The channel. */
                channel_id: string;
                /** @description The channel's name; null if it was removed. */
                channel_name?: string | null;
                channel_type?: components["schemas"]["ChannelType"] | null;
                /**
                 * Format: int64
                 * @description How many notices it tells of.
                 */
                count: number;
                /** @description When it was made. */
                created_at: string;
                /** @description What went wrong last. */
                error?: string | null;
                /** @description Its code, such as `429`. */
                error_code?: string | null;
                /** @description The execution that sends it, with all attempts in its events. */
                execution_id: string;
                /** @description The group that it is of. */
                group_id?: string | null;
                /** @description Its id, `ntf_…`. The service that gets it sees it too. */
                id: string;
                /**
                 * Format: int64
                 * @description How many of them are new since the message before.
                 */
                increase: number;
                /** @description What it is about. */
                kind: components["schemas"]["NoticeKind"];
                /** @description When the next one is due. */
                next_attempt_at?: string | null;
                /** @description Which message of its group it is. */
                phase: components["schemas"]["NotificationPhase"];
                /** @description The message that it repeats. */
                repeats?: string | null;
                /** @description Who asked for it; null if nobody did. */
                requested_by?: string | null;
                /** @description `accepted` means that the service took it: most services say nothing of what comes then. */
                status: components["schemas"]["NotificationStatus"];
                /** @description What it is about, as people call it. */
                subject: string;
                /** @description When something happened to it last. */
                updated_at: string;
                /** @description The workflow that it is about. */
                workflow_id?: string | null;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_PlannedSlot: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description When it starts: later than planned if there is a jitter window. */
                at: string;
                /** @description How it relates to the clock. */
                kind: components["schemas"]["SlotKind"];
                /** @description The planned time in the trigger's zone, with its offset. */
                local: string;
                /** @description The planned time. */
                nominal: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_RetriedExecution: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description When it was accepted. */
                created_at: string;
                /** @description Its code. */
                error_code?: string | null;
                /** @description Its message. */
                error_message?: string | null;
                /** @description The last failure's class. */
                error_type?: string | null;
                /** @description The execution. */
                execution_id: string;
                /**
                 * Format: int32
                 * @description Retries it may have.
                 */
                max_retries: number;
                /** @description When the next attempt is due. */
                next_retry_at?: string | null;
                /**
                 * Format: int32
                 * @description Retries so far.
                 */
                retry_count: number;
                /** @description Its status now. */
                status: components["schemas"]["ExecutionStatus"];
                /** @description The step that failed last. */
                step_id?: string | null;
                /**
                 * Format: int64
                 * @description From its start until its end, or until now.
                 */
                total_ms: number;
                /** @description Its workflow. */
                workflow_id: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_Silence: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description Why. */
                comment?: string | null;
                /** @description When it was made. */
                created_at: string;
                /** @description Who made it. */
                created_by: string;
                /** @description When it ends. */
                ends_at: string;
                /** @description Its id, `sil_…`. */
                id: string;
                /** @description What that rule is called. */
                rule?: string | null;
                /** @description Only of this rule. */
                rule_id?: string | null;
                /** @description When it begins. */
                starts_at: string;
                /** @description Whether it has begun, and is not over. */
                state: components["schemas"]["SilenceState"];
                /** @description Only about this. */
                subject?: string | null;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_TimeZone: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description Its IANA name. */
                name: string;
                /** @description What its clocks are ahead of UTC now, such as `+08:00`. */
                offset: string;
                /**
                 * Format: int32
                 * @description The same in minutes.
                 */
                offset_minutes: number;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_Trigger: {
            /** @description The entries, in the list's order. */
            items: (components["schemas"]["TriggerAbout"] & components["schemas"]["TriggerSettings"])[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_UpcomingFire: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description When it starts; later than planned if there is a jitter window. */
                at: string;
                /** @description When it fires, in English. */
                description: string;
                /** @description The same in 繁體中文. */
                description_zh: string;
                /** @description The planned time in the trigger's zone, with its offset. */
                local: string;
                /** @description What people call it. */
                name?: string | null;
                /** @description The trigger. */
                trigger_id: string;
                /** @description `cron` or `schedule` */
                trigger_type: components["schemas"]["TriggerType"];
                /** @description The workflow that it starts. */
                workflow_id: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_WebhookRequest: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description Its body, or the beginning of it; absent in lists. */
                body?: unknown;
                /**
                 * Format: int64
                 * @description How long the body was.
                 */
                body_bytes: number;
                /** @description How `body` is shown: `json` as it is, `text` or `base64` as a string. */
                body_encoding?: string | null;
                /** @description What was wrong with it. */
                error?: string | null;
                /** @description What it started, or what an equal one had started. */
                execution_id?: string | null;
                /** @description Its headers in their order, without secrets; absent in lists. */
                headers?: components["schemas"]["RequestHeader"][] | null;
                /** @description Headers that are not kept because there were too many. */
                headers_left_out?: number | null;
                /** @description `whr_…` */
                id: string;
                /** @description What is odd about a request that started an execution; absent in lists. */
                note?: string | null;
                /** @description When it arrived. */
                received_at: string;
                /** @description Where it came from. */
                source_ip: string;
                /** @description What became of it. */
                status: components["schemas"]["RequestStatus"];
                /** @description Whether a person sent it to try the trigger. */
                test: boolean;
                /** @description The trigger that received it. */
                trigger_id: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_Workflow: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description When it was first saved. */
                created_at: string;
                /** @description The definition as JSON; absent in lists. */
                definition?: unknown;
                /** @description What it is for. */
                description?: string | null;
                /** @description Its name for people. */
                name: string;
                /** @description The definition's text as it was sent; absent in lists. */
                source?: string | null;
                stats?: components["schemas"]["WorkflowStats"] | null;
                /** @description How many steps it has. */
                steps: number;
                /** @description When the newest version was saved. */
                updated_at: string;
                /**
                 * Format: int32
                 * @description The newest version.
                 */
                version: number;
                /** @description Its name in URLs. */
                workflow_id: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description One page of a list. */
        Page_WorkflowVersion: {
            /** @description The entries, in the list's order. */
            items: {
                /** @description SHA-256 of its content, in hex. */
                content_hash: string;
                /** @description When it was saved. */
                created_at: string;
                /** @description Who saved it. */
                created_by: string;
                /** @description Its text as it was sent; absent in lists. */
                source?: string | null;
                /**
                 * Format: int32
                 * @description Counted from 1.
                 */
                version: number;
                /** @description The workflow. */
                workflow_id: string;
            }[];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description What a step waits for whose target is left alone by its circuit breaker. */
        Parked: {
            /** @description The target. */
            host: string;
            /** @description No call tries it before; null = until a person says so. */
            until?: string | null;
        };
        /** @description The planned times of a pause. */
        Pause: {
            /**
             * Format: int64
             * @description How many of them are started now; the others are skipped.
             */
            caught_up: number;
            /** @description The first, in the trigger's zone. */
            from?: string | null;
            /**
             * Format: int64
             * @description How many there were.
             */
            slots: number;
            /** @description The last. */
            to?: string | null;
        };
        /** @description One retry to come. */
        PlannedRetry: {
            /**
             * Format: int64
             * @description Since the first failure, without jitter.
             */
            at_ms: number;
            /**
             * Format: int64
             * @description The wait before it, without jitter.
             */
            delay_ms: number;
            /**
             * Format: int64
             * @description The longest wait.
             */
            max_ms: number;
            /**
             * Format: int64
             * @description The shortest wait.
             */
            min_ms: number;
            /**
             * Format: int32
             * @description 1 is the first retry (the second attempt).
             */
            retry: number;
        };
        /** @description A planned time that is to come. */
        PlannedSlot: {
            /** @description When it starts: later than planned if there is a jitter window. */
            at: string;
            /** @description How it relates to the clock. */
            kind: components["schemas"]["SlotKind"];
            /** @description The planned time in the trigger's zone, with its offset. */
            local: string;
            /** @description The planned time. */
            nominal: string;
        };
        /** @description What is shown of a message that is not sent. */
        PreviewChannel: {
            /** @description The channel: as it would be made, with any secrets. */
            channel: unknown;
            phase?: components["schemas"]["NotificationPhase"] | null;
        };
        /** @description A request that is judged by the settings of a webhook, without sending or writing anything. */
        PreviewWebhook: {
            /** @description The body as JSON; `{}` if there is none. */
            body?: unknown;
            /** @description The body as text instead, such as a form. */
            body_text?: string | null;
            /** @description The content type of the body; default `application/json`. */
            content_type?: string | null;
            /** @description Its headers. */
            headers?: {
                [key: string]: string;
            };
            /** @description The settings of a webhook, saved or not; those of `trigger_id` if they are absent. */
            settings?: Record<string, never> | null;
            /** @description The webhook whose settings count, `trg_…`, if none are given. */
            trigger_id?: string | null;
        };
        /** @description A planned time of a schedule that is not saved yet. */
        PreviewedSlot: {
            /** @description The planned time in UTC. Jitter, which every trigger has of its own, is not in it. */
            at: string;
            /** @description The same in the schedule's zone, with its offset. */
            local: string;
            /** @description What a change of the clock did to it, in English. */
            note?: string | null;
            /** @description The same in 繁體中文. */
            note_zh?: string | null;
            /** @description What the clocks there are ahead of UTC then. */
            offset: string;
        };
        /** @description What the settings of a webhook make of a request. Signatures are not checked. */
        PreviewedWebhook: {
            /** @description Every condition with what it found, also behind one that is not fulfilled. */
            conditions: components["schemas"]["JudgedCondition"][];
            /** @description Why the request would be refused, whatever the conditions say. */
            error?: string | null;
            /** @description By what name the request would be known; null if every request starts an execution. */
            idempotency_key?: string | null;
            /** @description Where that name comes from: a header, `idempotency_paths`, or a path such as `$.incident_id`. */
            key_from?: string | null;
            /** @description Whether all of them are fulfilled. */
            passed: boolean;
        };
        /** @description What went wrong with a request. */
        Problem: {
            /** @description Stable, `RFnnnn`; `refire explain` has its page. */
            code: string;
            /** @description What happened this time. */
            detail: string;
            /** @description Every field that is wrong. */
            errors?: components["schemas"]["FieldProblem"][];
            /** @description The request's path. */
            instance?: string | null;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description The code's short name. */
            title: string;
            /** @description Where the code is explained. */
            type: string;
        };
        /** @description Which refused requests to a webhook are checked again. */
        RecheckRequests: {
            /** @description `next_cursor` of the previous call, with the same filters. */
            cursor?: string | null;
            /** @description Only says which would pass. */
            dry_run?: boolean;
            /**
             * Format: date-time
             * @description That arrived at or after this time.
             */
            from?: string | null;
            /** @description With one of these statuses; if there are none, all that were refused or filtered. */
            status?: components["schemas"]["RequestStatus"][];
            /**
             * Format: date-time
             * @description That arrived before this time.
             */
            to?: string | null;
        };
        /** @description A request that was checked again. */
        RecheckedRequest: {
            /** @description What it started, or what an equal one had started. */
            execution_id?: string | null;
            /** @description Why it does not pass. */
            reason?: string | null;
            /** @description `whr_…` */
            request_id: string;
            /** @description What it is now, or would be: `triggered`, `duplicate`, or why it does not pass. */
            status: components["schemas"]["RequestStatus"];
        };
        /** @description Refused requests that were checked again. */
        RecheckedRequests: {
            /**
             * Format: int64
             * @description How many had been started before.
             */
            already_started: number;
            /** @description Why it ended early; what is listed here was done. */
            error?: string | null;
            /** @description The requests, oldest first. */
            items: components["schemas"]["RecheckedRequest"][];
            /**
             * Format: int64
             * @description How many this call has checked.
             */
            looked_at: number;
            /** @description Pass it as `cursor` to go on; null when all are checked. */
            next_cursor?: string | null;
            /**
             * Format: int64
             * @description How many still do not pass.
             */
            refused: number;
            /**
             * Format: int64
             * @description How many were started: not in a dry run.
             */
            started?: number | null;
            /**
             * Format: int64
             * @description How many pass: only in a dry run. Some of them may turn out to have been started before.
             */
            would_start?: number | null;
        };
        /** @description Where the log and the derivation part. */
        ReplayDifference: {
            derived?: components["schemas"]["Event"] | null;
            /** @description Why nothing follows, where that is known. */
            note?: string | null;
            recorded?: components["schemas"]["Event"] | null;
            /**
             * Format: int64
             * @description The number of the event.
             */
            sequence: number;
        };
        /** @description Replays an execution; with a definition, against that one (the replay lab). */
        ReplayRequest: {
            /** @description YAML or JSON text. */
            definition?: string | null;
        };
        /** @description What a replay found. */
        ReplayResult: {
            /**
             * Format: int64
             * @description Events compared.
             */
            events: number;
            first_difference?: components["schemas"]["ReplayDifference"] | null;
            /** @description Whether every decision came out the same. Requests to targets are not compared. */
            identical: boolean;
        };
        /** @description A header of a request. */
        RequestHeader: {
            /** @description Its name. */
            name: string;
            /** @description Its value, or `[removed]` in place of a secret. */
            value: string;
        };
        /**
         * @description What became of a request to a webhook.
         * @enum {string}
         */
        RequestStatus: "triggered" | "filtered" | "auth_failed" | "duplicate" | "too_large" | "rate_limited" | "ip_refused" | "disabled" | "error";
        /** @description What became of requests to a webhook. */
        RequestSummary: {
            /** @description How many came to what. */
            by_status: {
                [key: string]: number;
            };
            /** @description Whether these are all. */
            exact: boolean;
            /** @description When the last of them arrived. */
            newest?: string | null;
            /** @description When the first of them arrived. */
            oldest?: string | null;
            /**
             * Format: int64
             * @description How many were refused, though perhaps by mistake: all but those that started an execution, were
             *     sent before, or are not what the trigger waits for.
             */
            quarantined: number;
            /**
             * Format: int64
             * @description How many there are; of many the newest 10,000 are counted.
             */
            total: number;
        };
        /** @description An execution that was retried. */
        RetriedExecution: {
            /** @description When it was accepted. */
            created_at: string;
            /** @description Its code. */
            error_code?: string | null;
            /** @description Its message. */
            error_message?: string | null;
            /** @description The last failure's class. */
            error_type?: string | null;
            /** @description The execution. */
            execution_id: string;
            /**
             * Format: int32
             * @description Retries it may have.
             */
            max_retries: number;
            /** @description When the next attempt is due. */
            next_retry_at?: string | null;
            /**
             * Format: int32
             * @description Retries so far.
             */
            retry_count: number;
            /** @description Its status now. */
            status: components["schemas"]["ExecutionStatus"];
            /** @description The step that failed last. */
            step_id?: string | null;
            /**
             * Format: int64
             * @description From its start until its end, or until now.
             */
            total_ms: number;
            /** @description Its workflow. */
            workflow_id: string;
        };
        /** @description Where the retries of a step stand. */
        RetryContext: {
            /**
             * Format: int32
             * @description The live attempt, or the last one.
             */
            current_attempt: number;
            /**
             * Format: int64
             * @description The wait before it.
             */
            last_backoff_ms?: number | null;
        };
        /** @description A failed attempt. */
        RetryHistoryEntry: {
            /** @description When it failed. */
            at: string;
            /**
             * Format: int32
             * @description The attempt.
             */
            attempt: number;
            /**
             * Format: double
             * @description Seconds until the next attempt; null after the last.
             */
            delay?: number | null;
            /** @description Its error. */
            error: string;
        };
        /** @description Retries a dead letter. */
        RetryLetter: {
            /** @description `start` (default; newest definition) or `failed_step` (original definition). */
            from?: string | null;
            /** @description An edited input; absent = the original one. `{}` counts as edited. */
            input?: components["schemas"]["Input"];
            /** @description Whether the workflow's automatic retries apply; without it the retry is made once. */
            retries?: boolean | null;
            /**
             * Format: uint32
             * @description Another version of the definition.
             */
            version?: number | null;
        };
        /** @description When retries would happen. */
        RetryTimeline: {
            /** @description The retries in order. */
            retries: components["schemas"]["PlannedRetry"][];
            /**
             * Format: int64
             * @description The most it can be.
             */
            total_max_ms: number;
            /**
             * Format: int64
             * @description The least it can be.
             */
            total_min_ms: number;
            /**
             * Format: int64
             * @description The sum of all waits without jitter.
             */
            total_ms: number;
        };
        /** @description Gives a webhook a new secret. */
        RotateSecret: {
            /**
             * @description Whether the secret before the old one ends now, if it is still valid. Otherwise this is
             *     refused.
             */
            end_previous?: boolean;
            /**
             * @description How long the old secret stays valid, such as `24h` (default). With `0s` it ends now, and so
             *     does the one before it.
             */
            keep_previous_for?: string | null;
            /** @description The new secret; created if absent. */
            secret?: string | null;
        };
        /**
         * @description What became of an execution of a trigger: its status, or `removed` if it is no longer kept.
         * @enum {string}
         */
        RunStatus: "pending" | "running" | "retrying" | "waiting" | "paused" | "completed" | "failed" | "dlq" | "cancelled" | "removed";
        /** @description When a schedule would fire that is not saved yet. */
        SchedulePreview: {
            /** @description When it fires, in English, such as `At 09:00 every Monday (Asia/Taipei)`. */
            description: string;
            /** @description The same in 繁體中文. */
            description_zh: string;
            /** @description The planned times, the next one first; fewer than asked for if there are no more. */
            next: components["schemas"]["PreviewedSlot"][];
            /** @description What else is to know, in English: the window, the jitter, changes of the clock. */
            notes: string[];
            /** @description The same in 繁體中文. */
            notes_zh: string[];
            /** @description What its clocks are ahead of UTC now, such as `+08:00`. */
            offset: string;
            /** @description The time zone of the schedule, as the zone data spells it. */
            timezone: string;
        };
        /**
         * @description What kind of schedule a task has.
         * @enum {string}
         */
        ScheduleType: "immediate" | "once" | "daily" | "weekly" | "monthly" | "cron";
        /** @description A scheduled task. */
        ScheduledTask: {
            /** @description When it was cancelled. */
            cancelledAt?: string | null;
            /** @description When it was made. */
            createdAt: string;
            /**
             * Format: int64
             * @description Cycles that have begun.
             */
            cycles: number;
            /** @description No cycle begins after. */
            endTime?: string | null;
            /** @description Whether it is neither paused nor cancelled. */
            isActive: boolean;
            /** @description Whether no cycle of it will begin by itself any more. */
            isFinished: boolean;
            /** @description Whether it comes again and again. */
            isRecurring: boolean;
            lastExecutionStatus?: components["schemas"]["TaskExecutionStatus"] | null;
            /** @description When the next cycle begins; null if none will, or while it is paused. */
            nextExecutionTime?: string | null;
            /** @description The schedule, as it was written. */
            scheduleConfig?: unknown;
            /** @description What kind of schedule it has. */
            scheduleType: components["schemas"]["ScheduleType"];
            /** @description No cycle begins before. */
            startTime?: string | null;
            /** @description What is called, with what, and how often it is tried, as it was written. */
            taskConfig: unknown;
            /** @description What it is for. */
            taskDescription?: string | null;
            /** @description Its id, `task-…`. Its workflow has the same name. */
            taskId: string;
            /** @description What people call it. */
            taskName?: string | null;
            /** @description When it changed last. */
            updatedAt: string;
            /**
             * Format: int32
             * @description Counts its changes; send it as `If-Match` to change only what you have seen.
             */
            version: number;
        };
        /** @description A scheduled task that was made. */
        ScheduledTaskCreated: {
            /** @description When it was made. */
            createdAt: string;
            /** @description Whether it is neither paused nor cancelled. */
            isActive: boolean;
            /** @description Whether no cycle of it will begin by itself any more. */
            isFinished: boolean;
            /** @description When the next cycle begins; null if none will. */
            nextExecutionTime?: string | null;
            /** @description What kind of schedule it has. */
            scheduleType: components["schemas"]["ScheduleType"];
            /** @description Its id, `task-…`. */
            taskId: string;
            /** @description What people call it. */
            taskName?: string | null;
            /** @description What is allowed but probably not meant, such as a secret that is not set. */
            warnings?: string[];
        };
        /** @description A page of scheduled tasks. */
        ScheduledTaskPage: {
            /** @description The tasks, newest first. */
            items: components["schemas"]["ScheduledTask"][];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            nextCursor?: string | null;
        };
        /** @description What was found. */
        SearchResult: {
            /** @description What has exactly this id or key comes first, then what has the text in its name; 20 at most. */
            items: components["schemas"]["Hit"][];
        };
        /** @description A request as it was sent. */
        SentRequest: {
            /** @description Its body. */
            body: string;
            /** @description Its headers with the signature. The secret itself is never shown: `[removed]` is in its place. */
            headers: components["schemas"]["RequestHeader"][];
            /** @description The header that holds the key, if the sender is authenticated by a key. */
            key_header?: string | null;
            /** @description `POST` */
            method: string;
            /** @description The webhook's address. */
            url: string;
            /** @description Until when its signature is valid; null if its time is not checked. */
            valid_until?: string | null;
        };
        /** @description Who calls, and where. */
        Session: {
            /** @description The name of the key. */
            actor: string;
            /** @description Whether targets on this machine and in private networks may be called (`--dev`). */
            dev: boolean;
            /** @description When the session ends if nobody uses it; null for calls with a key. */
            expires_at?: string | null;
            /** @description The process that answers. */
            node_id: string;
            /** @description The public address of the server (`--public-url`). */
            public_url?: string | null;
            /** @description What the key may do. */
            scopes: string[];
            /** @description The server's clock. */
            server_time: string;
            /** @description The server's version. */
            version: string;
        };
        /** @description A link that logs in to the console by itself. */
        SessionLink: {
            /** @description Until when. */
            expires_at: string;
            /** @description Where to go, once. */
            url: string;
        };
        /** @description A time in which alerts are told to nobody. They are shown all the same. */
        Silence: {
            /** @description Why. */
            comment?: string | null;
            /** @description When it was made. */
            created_at: string;
            /** @description Who made it. */
            created_by: string;
            /** @description When it ends. */
            ends_at: string;
            /** @description Its id, `sil_…`. */
            id: string;
            /** @description What that rule is called. */
            rule?: string | null;
            /** @description Only of this rule. */
            rule_id?: string | null;
            /** @description When it begins. */
            starts_at: string;
            /** @description Whether it has begun, and is not over. */
            state: components["schemas"]["SilenceState"];
            /** @description Only about this. */
            subject?: string | null;
        };
        /**
         * @description Whether a silence has begun, and is not over.
         * @enum {string}
         */
        SilenceState: "planned" | "active" | "over";
        /**
         * @description How a planned time relates to the clock: `moved` when the local time does not exist on that day, `repeated` when it comes for the second time.
         * @enum {string}
         */
        SlotKind: "normal" | "moved" | "repeated";
        /**
         * @description What became of a planned time; `overdue` and `recovered` are of the dead-man check.
         * @enum {string}
         */
        SlotStatus: "fired" | "late" | "skipped" | "overdue" | "recovered";
        /**
         * @description What started an execution.
         * @enum {string}
         */
        StartedBy: "manual" | "manual_dlq_retry" | "cron" | "schedule" | "webhook" | "amqp";
        /** @description Numbers of executions, counted when they happened. A server that crashes may lose ten seconds of them. */
        StatsNumbers: {
            /**
             * Format: int64
             * @description Those that people ended.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Those that ended well.
             */
            completed: number;
            /**
             * Format: int64
             * @description Of these, those with one.
             */
            dead_lettered: number;
            /**
             * Format: double
             * @description How long those took on average that ended, in milliseconds; null if none did.
             */
            duration_avg_ms?: number | null;
            /**
             * Format: int64
             * @description The longest of these.
             */
            duration_max_ms?: number | null;
            /**
             * Format: int64
             * @description Those that ended badly, with or without a dead letter.
             */
            failed: number;
            /**
             * Format: int64
             * @description Planned times that started something.
             */
            fired: number;
            /**
             * Format: int64
             * @description Executions that failed after a retry.
             */
            given_up: number;
            /**
             * Format: int64
             * @description Planned times that were left out because no server looked.
             */
            missed: number;
            /**
             * Format: int64
             * @description Executions that completed after a retry.
             */
            recovered: number;
            /**
             * Format: int64
             * @description Retries that were planned.
             */
            retries: number;
            /**
             * Format: int64
             * @description Executions that were accepted.
             */
            started: number;
        };
        /** @description A step of a chart. */
        StatsPoint: components["schemas"]["StatsNumbers"] & {
            /** @description When it begins. */
            at: string;
        };
        /** @description A step of an execution. */
        Step: {
            /**
             * Format: int32
             * @description Attempts so far, one that runs included. One whose result was not awaited, because the
             *     execution was cancelled, is not among them.
             */
            attempts: number;
            callback?: components["schemas"]["StepCallback"] | null;
            /** @description When it ended. */
            completed_at?: string | null;
            error?: components["schemas"]["ErrorInfo"] | null;
            /** @description When the next attempt is due. */
            next_retry_at?: string | null;
            /** @description Its raw output. */
            output?: unknown;
            /**
             * Format: int32
             * @description Retries so far.
             */
            retry_count: number;
            /** @description When the first attempt began. */
            started_at?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["StepStatus"];
            /** @description Its name in the definition. */
            step_id: string;
            /** @description `http` or `local` */
            type: string;
            /** @description The completed step that it undoes, if it was begun for that. */
            undoes?: string | null;
        };
        /** @description A callback that a step waits for. */
        StepCallback: {
            /**
             * Format: int32
             * @description How far the target is, in percent.
             */
            progress?: number | null;
            /** @description How far it is, in its words. */
            progress_message?: string | null;
            /** @description What the target has said last. */
            status: components["schemas"]["CallbackStatus"];
            /** @description Until when the step waits; then the answer to the call is its output. */
            waits_until: string;
        };
        /**
         * @description Where a step stands; `skipped` is also one whose turn never came, and `cancelled` one that was cut off by a cancel.
         * @enum {string}
         */
        StepStatus: "pending" | "running" | "retrying" | "waiting" | "completed" | "failed" | "skipped" | "compensated" | "cancelled";
        /** @description What is stored, and for how long. */
        Storage: {
            /**
             * Format: int64
             * @description How large the database is, in bytes; null where that is not known.
             */
            bytes?: number | null;
            /**
             * Format: int64
             * @description The same for cancelled ones.
             */
            keep_cancelled_s?: number | null;
            /**
             * Format: int64
             * @description How long completed executions are kept, in seconds; null = for ever.
             */
            keep_completed_s?: number | null;
            /**
             * Format: int64
             * @description The same for failed ones; those with a dead letter that is pending stay.
             */
            keep_failed_s?: number | null;
        };
        /** @description Something to try. */
        SuggestedFix: {
            /** @description Why it may help. */
            detail: string;
            /** @description In a few words. */
            title: string;
        };
        /** @description A service that workflows call. */
        Target: {
            /** @description Why it opened last. */
            cause?: string | null;
            /** @description When its breaker changed last. */
            changed_at?: string | null;
            /** @description Who changed it; null if the calls did. */
            changed_by?: string | null;
            forced?: components["schemas"]["BreakerForced"] | null;
            /** @description Its host, with the port unless that is the scheme's own. */
            host: string;
            /**
             * Format: int32
             * @description Calls in flight on the node that answers.
             */
            in_flight: number;
            /**
             * Format: int32
             * @description How many of them it may have at once while calls come back; null = as its limits say.
             */
            in_flight_max?: number | null;
            /**
             * Format: int64
             * @description Pending dead letters whose last call was to it.
             */
            letters: number;
            /** @description Whether those are all; they are counted up to 10,000. */
            letters_exact: boolean;
            /**
             * Format: int64
             * @description Those of them that failed since five minutes before `opened_at`; null if it never opened.
             */
            letters_since_opening?: number | null;
            /** @description When calls were last stopped; kept when they are made again. */
            opened_at?: string | null;
            /**
             * Format: int32
             * @description How often it has opened since it was last closed.
             */
            openings: number;
            /**
             * Format: int64
             * @description Steps that are due and wait until it is called again. Those whose URL comes from a template are not
             *     among them.
             */
            parked: number;
            /** @description Whether those are all; they are counted up to 10,000. */
            parked_exact: boolean;
            /** @description The node whose call tries the target now. */
            probing_node?: string | null;
            /** @description Where its circuit breaker stands. */
            state: components["schemas"]["BreakerState"];
            /** @description Open: no call tries the target before. Null while a person keeps it open. */
            until?: string | null;
            /** @description Calls of the last 30 seconds, made by the node that answers. */
            window: components["schemas"]["TargetWindow"];
            /** @description Workflows that call it, by their newest definitions; none where the URL comes from a template. */
            workflows: string[];
        };
        /** @description A page of targets. */
        TargetPage: {
            /** @description Whether circuit breakers are on. */
            enabled: boolean;
            /** @description The targets, by host. */
            items: components["schemas"]["Target"][];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            next_cursor?: string | null;
        };
        /** @description What a target answered to the last failed attempt. */
        TargetResponse: {
            /** @description The first part of the body, up to 64 KiB; null if it had none. */
            body?: string | null;
            /** @description The HTTP status. */
            status?: string | null;
        };
        /** @description Calls of a short while. */
        TargetWindow: {
            /**
             * Format: int32
             * @description All of them.
             */
            calls: number;
            /**
             * Format: int32
             * @description Those that say that the target fails.
             */
            failed: number;
            /**
             * Format: int32
             * @description Those that it answered with 429.
             */
            limited: number;
        };
        /** @description A task that a worker fetches, does and reports. */
        Task: {
            /** @description From when on it can be fetched. */
            availableAt: string;
            /** @description When the task was over. */
            completedAt?: string | null;
            /** @description When it was made. */
            createdAt: string;
            /** @description What the last attempt failed with. */
            errorMessage?: string | null;
            /** @description The execution that it belongs to. */
            executionId: string;
            /**
             * Format: int64
             * @description How often its worker must send a heartbeat.
             */
            heartbeatIntervalSeconds?: number | null;
            /**
             * Format: int64
             * @description After so many missed ones it is taken from the worker.
             */
            heartbeatMaxMissed?: number | null;
            /** @description Its id, `xt_…`. */
            id: string;
            /** @description What the worker is given; absent in lists. */
            input?: unknown;
            /** @description When its worker was heard of last. */
            lastHeartbeatAt?: string | null;
            /**
             * Format: int64
             * @description How long a worker has it without a word.
             */
            lockDurationSeconds: number;
            /** @description Until when the worker has it. */
            lockExpiresAt?: string | null;
            /** @description The worker's hold on it; only in the answer of `poll`. Send it with every call about the task. */
            lockToken?: string | null;
            /** @description Since when. */
            lockedAt?: string | null;
            /**
             * Format: int32
             * @description Attempts in all.
             */
            maxRetries: number;
            /** @description What the worker reported; only when one task is asked for, and done. */
            output?: unknown;
            /**
             * Format: int32
             * @description 1 (first) to 10 (last).
             */
            priority: number;
            /**
             * Format: int32
             * @description How far the worker is, in percent.
             */
            progress?: number | null;
            /** @description How far it is, in words. */
            progressMessage?: string | null;
            /**
             * Format: int32
             * @description Attempts that failed.
             */
            retryCount: number;
            /** @description Where it stands. */
            status: components["schemas"]["TaskStatus"];
            /** @description The step that it is. */
            stepId: string;
            /** @description What workers ask for. */
            taskType: string;
            /** @description When the attempt is over, whether a worker has it or not. */
            timeoutAt: string;
            /** @description When it changed last. */
            updatedAt: string;
            /**
             * Format: int64
             * @description Counts its changes.
             */
            version: number;
            /** @description The worker that has it, or had it last. */
            workerId?: string | null;
            /** @description The workflow. */
            workflowId: string;
            /** @description The same, as other systems call it. */
            workflowInstanceId: string;
        };
        /** @description Tasks for workers; of many the 10,000 whose clocks run out first are counted. */
        TaskCounts: {
            /**
             * Format: int64
             * @description Those that workers have.
             */
            locked: number;
            /**
             * Format: int64
             * @description Those that workers may fetch.
             */
            pending: number;
        };
        /**
         * @description How a scheduled task went, as far as anybody knows.
         * @enum {string}
         */
        TaskExecutionStatus: "pending" | "processing" | "success" | "failed" | "timeout" | "trigger_failed";
        /** @description A page of the history of a scheduled task. */
        TaskHistory: {
            /** @description Its attempts, newest first. */
            items: components["schemas"]["TaskRecord"][];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            nextCursor?: string | null;
            /** @description The task. */
            taskId: string;
        };
        /** @description A page of tasks. */
        TaskPage: {
            /** @description The tasks, newest first. */
            items: components["schemas"]["Task"][];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            nextCursor?: string | null;
        };
        /** @description One attempt of a scheduled task. */
        TaskRecord: {
            /** @description When the record was made. */
            createdAt: string;
            /**
             * Format: int64
             * @description The cycle that it belongs to, counted from 1.
             */
            cycleNumber?: number | null;
            /** @description When it was over. */
            executionCompletedAt?: string | null;
            /** @description The same. */
            executionId: string;
            /** @description When it began. */
            executionStartedAt: string;
            /** @description How the task went, as far as anybody knows. */
            executionStatus: components["schemas"]["TaskExecutionStatus"];
            /** @description Its id: `exec_…-` and the attempt. */
            id: string;
            /** @description Whether the cycle was tried before. */
            isRetry: boolean;
            /**
             * Format: int32
             * @description How far the target is, in percent.
             */
            progress?: number | null;
            /** @description How far it is, in words. */
            progressMessage?: string | null;
            /** @description How to ask the target about it; values of headers are not shown. */
            queryConfig?: unknown;
            /** @description What the target said of it at last. */
            result?: unknown;
            /** @description The task. */
            scheduledTaskId: string;
            /** @description What the call came back with: `status` and `body`, or `error`. */
            triggerResult?: unknown;
            triggerStatus?: components["schemas"]["TaskTriggerStatus"] | null;
            /** @description When something was last heard of it. */
            updatedAt: string;
        };
        /** @description A cycle that somebody asked for. */
        TaskRun: {
            /**
             * Format: int64
             * @description The how-manieth it is.
             */
            cycleNumber: number;
            /** @description The id of its first attempt: `exec_…-1`. */
            executionId: string;
        };
        /**
         * @description Where a task for workers stands.
         * @enum {string}
         */
        TaskStatus: "PENDING" | "LOCKED" | "COMPLETED" | "FAILED" | "CANCELLED";
        /** @description What a target answered when it was asked about a task. */
        TaskStatusAnswer: {
            /**
             * Format: int32
             * @description The status of its answer.
             */
            httpStatus: number;
            /** @description When it was asked. */
            queriedAt: string;
            /** @description What it answered. */
            response: unknown;
        };
        /** @description Tasks by their type. */
        TaskSummary: {
            /** @description Whether all were counted; of many the 10,000 whose clocks run out first are. */
            exact: boolean;
            /** @description The types that have open tasks, by name. */
            items: components["schemas"]["TaskTypeSummary"][];
        };
        /**
         * @description How the call of a scheduled task went.
         * @enum {string}
         */
        TaskTriggerStatus: "success" | "failed" | "timeout";
        /** @description Tasks of one type. */
        TaskTypeSummary: {
            /**
             * Format: int64
             * @description Tasks that workers have.
             */
            locked: number;
            /** @description From when on the first pending one can be fetched. */
            oldestPendingAt?: string | null;
            /**
             * Format: int64
             * @description Tasks that workers may fetch, now or later.
             */
            pending: number;
            /** @description The type. */
            taskType: string;
            /**
             * Format: int64
             * @description Workers that ask for this type and are not dead; those without a name are not known.
             */
            workers: number;
        };
        /** @description The result of a test. */
        TestResult: {
            /** @description What it started, or what an equal one had started. */
            execution_id?: string | null;
            /**
             * Format: int32
             * @description The HTTP status that its sender would have got.
             */
            http_status: number;
            /** @description Why, if it started nothing. */
            reason?: string | null;
            /** @description `whr_…`: under this id the log has it, as a test. */
            request_id: string;
            /** @description What the log says of it. */
            status: components["schemas"]["RequestStatus"];
        };
        /** @description A test request to a webhook, signed as its sender would sign it. */
        TestWebhook: {
            /** @description The body as JSON, sent byte for byte; `{}` if there is none. */
            body?: unknown;
            /** @description The body as text instead, such as a form. */
            body_text?: string | null;
            /** @description The content type of the body; default `application/json`. */
            content_type?: string | null;
            /** @description Signs it, and sends nothing. */
            dry_run?: boolean;
            /** @description Headers to add or replace, including a signature. */
            headers?: {
                [key: string]: string;
            };
            /** @description The sender address to simulate; yours if absent. */
            source_ip?: components["schemas"]["MaybeAddress"];
        };
        /** @description A request to a webhook that was made and signed. */
        TestedWebhook: {
            result?: components["schemas"]["TestResult"] | null;
            /** @description What was sent. */
            sent: components["schemas"]["SentRequest"];
        };
        /** @description A time zone. */
        TimeZone: {
            /** @description Its IANA name. */
            name: string;
            /** @description What its clocks are ahead of UTC now, such as `+08:00`. */
            offset: string;
            /**
             * Format: int32
             * @description The same in minutes.
             */
            offset_minutes: number;
        };
        /** @description A trigger: its settings and its state. */
        Trigger: components["schemas"]["TriggerAbout"] & components["schemas"]["TriggerSettings"];
        /** @description What the server says of a trigger. */
        TriggerAbout: {
            /** @description When it was made. */
            created_at: string;
            description_in_words?: components["schemas"]["InWords"] | null;
            /** @description Whether it starts anything. */
            enabled: boolean;
            /** @description Whether there are no more planned times. */
            finished?: boolean;
            /** @description `trg_…` */
            id: string;
            /**
             * @description When one of its executions last completed. It is known, and here, only with `dead_man` or an
             *     `overlap` other than `allow`.
             */
            last_success_at?: string | null;
            /** @description The next planned time, in the trigger's zone; null when it is disabled or none is left. */
            next_execution?: string | null;
            /** @description The next two, likewise. */
            next_executions?: string[];
            /** @description Since when an expected success is missing. */
            overdue_since?: string | null;
            pause?: components["schemas"]["Pause"] | null;
            /** @description Until when the previous secret of a webhook is still valid. */
            previous_secret_until?: string | null;
            /** @description Why it cannot work, although it was valid when it was created. */
            problem?: string | null;
            /** @description The execution that the overlap policy waits for. */
            running_execution_id?: string | null;
            /** @description The secret of a webhook: only in the answer to the request that created it. */
            secret?: string | null;
            /** @description What it waits for. */
            trigger_type: components["schemas"]["TriggerType"];
            /** @description There was nothing to change: only in the answer to a change. */
            unchanged?: boolean;
            /** @description When it was changed last. */
            updated_at: string;
            /**
             * Format: int32
             * @description Grows with each change.
             */
            version: number;
            /** @description `wh_…`, of a webhook. */
            webhook_id?: string | null;
            /** @description Where a webhook's sender sends to. */
            webhook_url?: string | null;
            /** @description Its workflow was deleted, which disables its triggers. */
            workflow_deleted?: boolean;
            /** @description The workflow that it starts. */
            workflow_id: string;
        };
        /** @description Triggers. */
        TriggerCounts: {
            /**
             * Format: int64
             * @description Those that start something.
             */
            enabled: number;
            /**
             * Format: int64
             * @description Those that have missed an expected success.
             */
            overdue: number;
        };
        /** @description The settings of the trigger, such as `cron_expression`, `timezone`, `overlap`, `input` */
        TriggerSettings: {
            [key: string]: unknown;
        };
        /**
         * @description What a trigger waits for.
         * @enum {string}
         */
        TriggerType: "cron" | "schedule" | "webhook";
        /** @description Something that is wrong. */
        TroubleEntry: {
            /**
             * Format: int64
             * @description How many, if there may be several.
             */
            count?: number | null;
            /** @description What. */
            kind: components["schemas"]["TroubleKind"];
            /** @description The page of the console that shows it. */
            path: string;
            /** @description How bad it is. */
            severity: components["schemas"]["TroubleSeverity"];
            /** @description Since when. */
            since: string;
            /** @description What it is about: the id of a workflow, trigger or node, a worker's name, or a type of tasks. */
            subject: string;
            /** @description In English. */
            text: string;
            /** @description 繁體中文。 */
            text_zh: string;
            /** @description The workflow that it concerns. */
            workflow_id?: string | null;
        };
        /**
         * @description What is wrong.
         * @enum {string}
         */
        TroubleKind: "dead_letters" | "trigger_overdue" | "trigger_unreadable" | "worker_dead" | "node_lost" | "quarantine" | "task_waiting_without_worker" | "channel_broken" | "alert_firing";
        /** @description What is wrong at present. */
        TroubleList: {
            /** @description The worst first, at most 50. */
            items: components["schemas"]["TroubleEntry"][];
            /** @description Since when nothing was wrong, as far as anybody has asked this node; only if nothing is. */
            quiet_since?: string | null;
        };
        /**
         * @description How bad it is.
         * @enum {string}
         */
        TroubleSeverity: "critical" | "warning" | "info";
        /** @description The next planned time of a trigger. */
        UpcomingFire: {
            /** @description When it starts; later than planned if there is a jitter window. */
            at: string;
            /** @description When it fires, in English. */
            description: string;
            /** @description The same in 繁體中文. */
            description_zh: string;
            /** @description The planned time in the trigger's zone, with its offset. */
            local: string;
            /** @description What people call it. */
            name?: string | null;
            /** @description The trigger. */
            trigger_id: string;
            /** @description `cron` or `schedule` */
            trigger_type: components["schemas"]["TriggerType"];
            /** @description The workflow that it starts. */
            workflow_id: string;
        };
        /** @description What runs. */
        Version: {
            /** @description This process. */
            node_id: string;
            /** @description `sqlite` or `postgres` */
            store: string;
            /** @description Where that comes from: `built-in` or `system` */
            time_zone_source?: string;
            /** @description The version of the time-zone database that is used, such as `2026e`. */
            time_zones?: string;
            /** @description The server's version. */
            version: string;
        };
        /** @description The answer to a request that was taken. */
        WebhookAnswer: {
            /** @description The key was used before with another body. */
            body_differs?: boolean | null;
            /** @description The execution that it started, or that an equal one had started. */
            execution_id?: string | null;
            /** @description In words. */
            message: string;
            /** @description What became of it. */
            status: components["schemas"]["WebhookStatus"];
            /** @description What Teams shows. */
            text?: string | null;
            /** @description `message`, for Microsoft Teams, which shows `text` in the conversation. */
            type?: string | null;
        };
        /** @description A request to a webhook. */
        WebhookRequest: {
            /** @description Its body, or the beginning of it; absent in lists. */
            body?: unknown;
            /**
             * Format: int64
             * @description How long the body was.
             */
            body_bytes: number;
            /** @description How `body` is shown: `json` as it is, `text` or `base64` as a string. */
            body_encoding?: string | null;
            /** @description What was wrong with it. */
            error?: string | null;
            /** @description What it started, or what an equal one had started. */
            execution_id?: string | null;
            /** @description Its headers in their order, without secrets; absent in lists. */
            headers?: components["schemas"]["RequestHeader"][] | null;
            /** @description Headers that are not kept because there were too many. */
            headers_left_out?: number | null;
            /** @description `whr_…` */
            id: string;
            /** @description What is odd about a request that started an execution; absent in lists. */
            note?: string | null;
            /** @description When it arrived. */
            received_at: string;
            /** @description Where it came from. */
            source_ip: string;
            /** @description What became of it. */
            status: components["schemas"]["RequestStatus"];
            /** @description Whether a person sent it to try the trigger. */
            test: boolean;
            /** @description The trigger that received it. */
            trigger_id: string;
        };
        /**
         * @description What happened to a request to a webhook.
         * @enum {string}
         */
        WebhookStatus: "triggered" | "filtered" | "already_processed";
        /** @description A worker that has asked for tasks and said who it is. */
        Worker: {
            /** @description When it was first seen. */
            createdAt: string;
            /**
             * Format: int64
             * @description Tasks that it has.
             */
            held: number;
            /** @description When it last sent a heartbeat. */
            lastHeartbeatAt?: string | null;
            /** @description When it last asked for tasks. */
            lastPollAt?: string | null;
            /** @description `ACTIVE` if it has a task or asked for one in the last minute, `IDLE` for five minutes. */
            status: components["schemas"]["WorkerStatus"];
            /** @description What it asks for. */
            taskTypes: string[];
            /**
             * Format: int64
             * @description Tasks that it has done.
             */
            tasksCompleted: number;
            /**
             * Format: int64
             * @description Tasks that it has reported as failed.
             */
            tasksFailed: number;
            /** @description When it was last seen. */
            updatedAt: string;
            /** @description Its name. */
            workerId: string;
            /** @description What kind of worker it says it is. */
            workerType?: string | null;
        };
        /** @description Workers. */
        WorkerCounts: {
            /**
             * Format: int64
             * @description At work, or asking for it.
             */
            active: number;
            /**
             * Format: int64
             * @description Not heard of for longer.
             */
            dead: number;
            /**
             * Format: int64
             * @description There a little while ago.
             */
            idle: number;
        };
        /** @description A page of workers. */
        WorkerPage: {
            /** @description The workers, by name. */
            items: components["schemas"]["Worker"][];
            /** @description Pass it as `cursor` to get the next page; null on the last. */
            nextCursor?: string | null;
        };
        /** @description A worker was removed. */
        WorkerRemoved: {
            /**
             * Format: int64
             * @description Tasks that it had, which others may fetch now.
             */
            released: number;
            /** @description Its name. */
            workerId: string;
        };
        /**
         * @description Whether a worker is there.
         * @enum {string}
         */
        WorkerStatus: "ACTIVE" | "IDLE" | "DEAD";
        /** @description A workflow. */
        Workflow: {
            /** @description When it was first saved. */
            created_at: string;
            /** @description The definition as JSON; absent in lists. */
            definition?: unknown;
            /** @description What it is for. */
            description?: string | null;
            /** @description Its name for people. */
            name: string;
            /** @description The definition's text as it was sent; absent in lists. */
            source?: string | null;
            stats?: components["schemas"]["WorkflowStats"] | null;
            /** @description How many steps it has. */
            steps: number;
            /** @description When the newest version was saved. */
            updated_at: string;
            /**
             * Format: int32
             * @description The newest version.
             */
            version: number;
            /** @description Its name in URLs. */
            workflow_id: string;
        };
        /** @description What deleting a workflow has changed. */
        WorkflowDeleted: {
            /** @description True. */
            deleted: boolean;
            /**
             * Format: int64
             * @description How many of its triggers were enabled and are disabled now.
             */
            triggers_disabled: number;
            /** @description The workflow. */
            workflow_id: string;
        };
        /** @description The difference between two definitions. */
        WorkflowDiff: {
            /** @description The changes, in the definition's order; steps are matched by their id. */
            changes: components["schemas"]["Change"][];
            /**
             * Format: int32
             * @description The version compared with; null when there is none yet.
             */
            from_version?: number | null;
            /**
             * Format: int32
             * @description The version it is compared to; null for a definition that was sent along.
             */
            to_version?: number | null;
        };
        /** @description A saved definition. */
        WorkflowSaved: {
            /** @description False when the content was the same as before: no new version. */
            created: boolean;
            /** @description Things worth knowing that are not errors. */
            notes?: string[];
            /** @description True when the workflow had been deleted and is back. */
            restored?: boolean;
            /**
             * Format: int32
             * @description The version that now runs.
             */
            version: number;
            /** @description The workflow. */
            workflow_id: string;
        };
        /** @description How a workflow is doing. */
        WorkflowStats: {
            /**
             * Format: int64
             * @description Its dead letters that wait.
             */
            dead_letters: number;
            /** @description When the first of them fires next; of more than 100 enabled ones the oldest 100 count. */
            next_fire?: string | null;
            /**
             * Format: int64
             * @description Its open executions, counted up to 1000.
             */
            open: number;
            /**
             * Format: int64
             * @description Its triggers.
             */
            triggers: number;
        };
        /** @description One version of a definition. */
        WorkflowVersion: {
            /** @description SHA-256 of its content, in hex. */
            content_hash: string;
            /** @description When it was saved. */
            created_at: string;
            /** @description Who saved it. */
            created_by: string;
            /** @description Its text as it was sent; absent in lists. */
            source?: string | null;
            /**
             * Format: int32
             * @description Counted from 1.
             */
            version: number;
            /** @description The workflow. */
            workflow_id: string;
        };
    };
    responses: {
        /** @description The disk is full: nothing was written */
        DiskFull: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There are too many headers, or they are too large */
        HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Something went wrong on the server's side, or the outcome is not known: `code` says which */
        Internal: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A cookie would allow it, but it does not come from the console */
        NotFromConsole: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A parameter, a header or the body is wrong; `errors` has every one */
        NotValid: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is too large */
        TooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body did not arrive in time */
        TooSlow: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The API key is missing or wrong */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The server is stopping, overloaded or without its database: certainly nothing was written */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_alert_rules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All rules */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AlertRule"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    create_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The rule, in JSON or YAML */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "above": 20,
                 *       "channels": [
                 *         "ops"
                 *       ],
                 *       "for": "1m",
                 *       "kind": "failure_rate",
                 *       "min_count": 10,
                 *       "name": "Orders fail",
                 *       "repeat": "4h",
                 *       "window": "10m",
                 *       "workflow": "ship_order"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The rule */
            201: {
                headers: {
                    /** @description The rule */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            /** @description Every problem of the rule */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            /** @description Another rule has the name, or there are too many */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    preview_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The rule, in JSON or YAML */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "above": 20,
                 *       "kind": "failure_rate",
                 *       "name": "Orders fail"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description What it would say */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRulePreview"];
                };
            };
            /** @description Every problem of the rule */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    delete_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    change_alert_rule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that is changed, such as `"3"` */
                "If-Match"?: string;
            };
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description The fields to change */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "above": 30,
                 *       "enabled": true
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The rule as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            /** @description Every problem of the result */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description Another rule has the name */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It has another version */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_alerts: {
        parameters: {
            query?: {
                /** @description In one of these phases; repeat it or separate by commas, such as `pending,firing` */
                phase?: components["schemas"]["AlertPhase"][];
                /** @description Of this rule, `rule_…` */
                rule_id?: string;
                /** @description About this: a workflow, a trigger, a worker or a host */
                subject?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of alerts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Alert"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alert */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    acknowledge_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alert */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is over */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    back_up: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "to": "refire-2026-11-15.db"
                 *     }
                 */
                "application/json": components["schemas"]["BackupRequest"];
            };
        };
        responses: {
            /** @description The copy is complete and on disk */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupResult"];
                };
            };
            /** @description The body is wrong, or the file would be elsewhere */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            /** @description The file exists or cannot be written */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_bulk_jobs: {
        parameters: {
            query?: {
                /** @description In one of these states; repeat it or separate by commas, such as `running,paused` */
                state?: components["schemas"]["BulkState"][];
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of bulk jobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_BulkJob"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_bulk_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bulk job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkJob"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancel_bulk_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancelled, now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkJob"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It has come to its end */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_bulk_items: {
        parameters: {
            query?: {
                /** @description With one of these outcomes; repeat it or separate by commas, such as `failed,skipped` */
                outcome?: components["schemas"]["BulkOutcome"][];
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of things */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_BulkItem"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    pause_bulk_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Paused, now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkJob"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It has ended */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    resume_bulk_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Running, now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkJob"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It has ended */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_channels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channels */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Channel"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    create_channel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The channel, in JSON or YAML */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "config": {
                 *         "envelope": "message",
                 *         "url": "https://prod-1.westeurope.logic.azure.com/workflows/…"
                 *       },
                 *       "kinds": [
                 *         "dead_letter.created",
                 *         "dead_letter.resolved"
                 *       ],
                 *       "language": "en",
                 *       "name": "ops",
                 *       "type": "teams"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The channel */
            201: {
                headers: {
                    /** @description The channel */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            /** @description Every problem of the channel */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            /** @description There are as many channels as there may be */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    preview_channel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewChannel"];
            };
        };
        responses: {
            /** @description What the service would be sent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelPreview"];
                };
            };
            /** @description Every problem of the channel */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    get_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `chn_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    delete_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `chn_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    change_channel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that is changed, such as `"3"` */
                "If-Match"?: string;
            };
            path: {
                /** @description `chn_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description The fields to change */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": false
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The channel as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            /** @description Every problem of the result */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description It has another version */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    test_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `chn_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is being sent */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationStarted"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_dead_letters: {
        parameters: {
            query?: {
                /** @description Of this workflow */
                workflow_id?: string;
                /** @description With one of these classes of error; repeat it or separate by commas, such as `http_status,read_timeout` */
                error_type?: string[];
                /** @description With one of these statuses; repeat it or separate by commas, such as `pending,resolved` */
                status?: components["schemas"]["LetterStatus"][];
                /** @description That failed at or after this time, such as `2026-11-08T00:00:00Z` */
                from?: string;
                /** @description That failed before this time, such as `2026-11-15T00:00:00Z` */
                to?: string;
                /** @description Whose message, workflow, code or step contains this; or the id of a letter or an execution (`dlq_…`, `exec_…`) */
                q?: string;
                /** @description With this cause, such as `00c0ffee00c0ffee` */
                fingerprint?: string;
                /** @description Whose last call was to this host, such as `api.example.com` or `10.0.0.7:8080` */
                target?: string;
                /** @description `true`: only those that failed more than 30 days ago; `all`: those, too; default `false` */
                archived?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of dead letters */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_DeadLetter"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    bulk_dead_letters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "retry",
                 *       "filter": {
                 *         "error_type": [
                 *           "http_status"
                 *         ],
                 *         "workflow_id": "ship_order"
                 *       },
                 *       "rate": 20,
                 *       "transform": {
                 *         "merge": {
                 *           "carrier": "${input.carrier ?? \"dhl\"}"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BulkDeadLetters"];
            };
        };
        responses: {
            /** @description What it would do */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkPreview"];
                };
            };
            /** @description The job is saved and begins */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkStarted"];
                };
            };
            /** @description The body is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            /** @description Too many bulk jobs are open */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    summarize_dead_letters: {
        parameters: {
            query?: {
                /** @description Of this workflow */
                workflow_id?: string;
                /** @description With one of these classes of error; repeat it or separate by commas, such as `http_status,read_timeout` */
                error_type?: string[];
                /** @description With one of these statuses; repeat it or separate by commas, such as `pending,resolved` */
                status?: components["schemas"]["LetterStatus"][];
                /** @description That failed at or after this time, such as `2026-11-08T00:00:00Z` */
                from?: string;
                /** @description That failed before this time, such as `2026-11-15T00:00:00Z` */
                to?: string;
                /** @description Whose message, workflow, code or step contains this; or the id of a letter or an execution (`dlq_…`, `exec_…`) */
                q?: string;
                /** @description With this cause, such as `00c0ffee00c0ffee` */
                fingerprint?: string;
                /** @description Whose last call was to this host, such as `api.example.com` or `10.0.0.7:8080` */
                target?: string;
                /** @description `true`: only those that failed more than 30 days ago; `all`: those, too; default `false` */
                archived?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The overview */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterSummary"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_dead_letter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `dlq_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dead letter */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterDetail"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    delete_dead_letter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `dlq_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is not pending */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    retry_dead_letter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `dlq_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description Everything is optional; an `input` that is present counts as edited, even {} */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "from": "failed_step",
                 *       "input": {
                 *         "customer_id": 4712
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RetryLetter"];
            };
        };
        responses: {
            /** @description The new execution is saved */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterRetried"];
                };
            };
            /** @description The body is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description It is not pending, or cannot be retried this way */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_executions: {
        parameters: {
            query?: {
                /** @description Of one of these workflows; repeat it or separate by commas. A `*` at the end stands for any rest of a name, such as `ship_*` */
                workflow?: string[];
                /** @description With one of these statuses; repeat it or separate by commas, such as `running,retrying` */
                status?: components["schemas"]["ExecutionStatus"][];
                /** @description Started by this trigger, `trg_…` */
                trigger?: string;
                /** @description Started in one of these ways; repeat it or separate by commas, such as `cron,webhook` */
                trigger_type?: components["schemas"]["StartedBy"][];
                /** @description Created at or after this time, such as `2026-11-08T00:00:00Z` */
                from?: string;
                /** @description Created before this time, such as `2026-11-15T00:00:00Z` */
                to?: string;
                /** @description Started with this idempotency key, as long as that is remembered */
                key?: string;
                /** @description These executions, at most 100; repeat it or separate by commas */
                ids?: string[];
                /** @description Of this version of their workflow */
                version?: number;
                /** @description That failed with one of these classes of error, or wait for a retry after one; repeat it or separate by commas, such as `http_status,read_timeout` */
                error_type?: string[];
                /** @description The id of an execution or an idempotency key, exactly; else a text in the error's message, its code, or the workflow's id */
                q?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of executions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionPage"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    bulk_executions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "cancel",
                 *       "filter": {
                 *         "status": [
                 *           "retrying"
                 *         ],
                 *         "workflow": [
                 *           "ship_order"
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BulkExecutions"];
            };
        };
        responses: {
            /** @description What it would do */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkPreview"];
                };
            };
            /** @description The job is saved and begins */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkStarted"];
                };
            };
            /** @description The body is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            /** @description Too many bulk jobs are open */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    count_executions: {
        parameters: {
            query?: {
                /** @description Of one of these workflows; repeat it or separate by commas. A `*` at the end stands for any rest of a name, such as `ship_*` */
                workflow?: string[];
                /** @description With one of these statuses; repeat it or separate by commas, such as `running,retrying` */
                status?: components["schemas"]["ExecutionStatus"][];
                /** @description Started by this trigger, `trg_…` */
                trigger?: string;
                /** @description Started in one of these ways; repeat it or separate by commas, such as `cron,webhook` */
                trigger_type?: components["schemas"]["StartedBy"][];
                /** @description Created at or after this time, such as `2026-11-08T00:00:00Z` */
                from?: string;
                /** @description Created before this time, such as `2026-11-15T00:00:00Z` */
                to?: string;
                /** @description Started with this idempotency key, as long as that is remembered */
                key?: string;
                /** @description These executions, at most 100; repeat it or separate by commas */
                ids?: string[];
                /** @description Of this version of their workflow */
                version?: number;
                /** @description That failed with one of these classes of error, or wait for a retry after one; repeat it or separate by commas, such as `http_status,read_timeout` */
                error_type?: string[];
                /** @description The id of an execution or an idempotency key, exactly; else a text in the error's message, its code, or the workflow's id */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The count */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionCount"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_execution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The execution */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Execution"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_attempts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All attempts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Attempt"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancel_execution: {
        parameters: {
            query?: {
                /** @description Undo completed steps first */
                compensate?: boolean;
            };
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancelled, now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Execution"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It has already ended in another way */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_events: {
        parameters: {
            query?: {
                /** @description About this attempt, such as 2 */
                attempt?: number;
                /** @description Of one of these types; repeat it or separate by commas, such as `STEP_FAILED,RETRY_SCHEDULED` */
                type?: ("EXECUTION_STARTED" | "STEP_SCHEDULED" | "STEP_STARTED" | "STEP_COMPLETED" | "STEP_FAILED" | "STEP_LOST" | "STEP_SKIPPED" | "RETRY_SCHEDULED" | "TIMER_FIRED" | "EXTERNAL_TASK_CREATED" | "EXTERNAL_TASK_LOCKED" | "EXTERNAL_TASK_RELEASED" | "CALLBACK_RECEIVED" | "CALL_ANSWERED" | "COMPENSATION_STARTED" | "COMPENSATION_COMPLETED" | "COMPENSATION_FAILED" | "EXECUTION_PAUSED" | "EXECUTION_RESUMED" | "DEAD_LETTERED" | "EXECUTION_COMPLETED" | "EXECUTION_FAILED" | "EXECUTION_CANCELLED")[];
                /** @description About this step */
                step?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Event"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such execution */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    pause_execution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Paused */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Execution"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It has ended, or is undoing its steps */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    replay_execution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description Empty for the execution's own definition; the definition may also be an object, or the body itself */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            /** @description All decisions are identical, or the first difference */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": 9,
                     *       "first_difference": null,
                     *       "identical": true
                     *     }
                     */
                    "application/json": components["schemas"]["ReplayResult"];
                };
            };
            /** @description The definition is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such execution */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    resume_execution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Resumed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Execution"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is not paused */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    retry_execution_now: {
        parameters: {
            query?: {
                /** @description Only that of this step; without it, all that wait */
                step?: string;
            };
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The retry may begin */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Execution"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No retry is waiting, or the execution is paused */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    run_execution_again: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `exec_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new execution is saved */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionRunAgain"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Its workflow was deleted */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_tasks: {
        parameters: {
            query?: {
                /** @description In one of these states; repeat it or separate by commas, such as `PENDING,LOCKED` */
                status?: components["schemas"]["TaskStatus"][];
                /** @description Of this type */
                taskType?: string;
                /** @description That this worker has, or had last */
                workerId?: string;
                /** @description Of this execution */
                executionId?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tasks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    poll_tasks: {
        parameters: {
            query?: {
                /** @description Types of tasks, with commas; a `*` at the end stands for any rest of a name */
                taskType?: string[];
                /** @description The worker's name, up to 200 characters */
                workerId?: string;
                /** @description What kind of worker it is */
                workerType?: string;
                /** @description How many to fetch at most, 1 to 100; default 1 */
                maxTasks?: number;
                /** @description How long to wait for the first, 0 to 300; default 30 */
                waitSeconds?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tasks, with their lock tokens */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"][];
                };
            };
            /** @description There was none until the end of the wait */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            /** @description Too many polls wait, or the server stops */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    summarize_tasks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All types that have open tasks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskSummary"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `xt_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    complete_task: {
        parameters: {
            query?: {
                /** @description The `lockToken` of the task; the header `X-Lock-Token` does as well */
                lockToken?: string;
            };
            header?: never;
            path: {
                /** @description `xt_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description The output; nothing is null */
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description It is recorded, now or by the same call before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description The worker does not have the task */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    extend_task: {
        parameters: {
            query?: {
                /** @description The `lockToken` of the task; the header `X-Lock-Token` does as well */
                lockToken?: string;
            };
            header?: never;
            path: {
                /** @description `xt_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExtendTask"];
            };
        };
        responses: {
            /** @description The lock lasts until then at least */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description The worker does not have the task */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    fail_task: {
        parameters: {
            query?: {
                /** @description The `lockToken` of the task; the header `X-Lock-Token` does as well */
                lockToken?: string;
            };
            header?: never;
            path: {
                /** @description `xt_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FailTask"];
            };
        };
        responses: {
            /** @description It is recorded, now or by the same call before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description The worker does not have the task */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    beat_task: {
        parameters: {
            query?: {
                /** @description The `lockToken` of the task; the header `X-Lock-Token` does as well */
                lockToken?: string;
            };
            header?: never;
            path: {
                /** @description `xt_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Heartbeat"];
            };
        };
        responses: {
            /** @description The lock counts from now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description The worker does not have the task */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    unlock_task: {
        parameters: {
            query?: {
                /** @description The `lockToken` of the task; the header `X-Lock-Token` does as well */
                lockToken?: string;
            };
            header?: never;
            path: {
                /** @description `xt_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is given back, now or by the same call before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The worker does not have the task */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_nodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All nodes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Node"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            /** @description The store is not available */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_notifications: {
        parameters: {
            query?: {
                /** @description Of this channel */
                channel?: string;
                /** @description With one of these statuses; repeat it or separate by commas, such as `failed,retrying` */
                status?: components["schemas"]["NotificationStatus"][];
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of messages */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Notification"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_notification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `ntf_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notification"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    resend_notification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `ntf_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is being sent */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationStarted"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    get_overview: {
        parameters: {
            query?: {
                /** @description A length of time such as `15m` or `7d`, at most `30d`; default `24h` */
                range?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole at a glance */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            /** @description The range is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_retries: {
        parameters: {
            query?: {
                /** @description Of one of these workflows; repeat it or separate by commas. A `*` at the end stands for any rest of a name */
                workflow?: string[];
                /** @description With one of these statuses; repeat it or separate by commas, such as `running,retrying` */
                status?: components["schemas"]["ExecutionStatus"][];
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of executions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RetriedExecution"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    simulate_retries: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A policy as in a definition's `retry`; empty for the default one */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "initialDelay": "2s",
                 *       "maxRetries": 5,
                 *       "strategy": "exponential"
                 *     }
                 */
                "application/json": Record<string, never> | null | boolean;
                "application/yaml": Record<string, never> | null | boolean;
            };
        };
        responses: {
            /** @description The timeline */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetryTimeline"];
                };
            };
            /** @description The policy is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    preview_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The settings of a trigger, `count` and `from` */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "count": 3,
                 *       "cron_expression": "0 9 * * MON",
                 *       "timezone": "Asia/Taipei",
                 *       "trigger_type": "cron"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description When it would fire */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulePreview"];
                };
            };
            /** @description Every problem of the settings */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_scheduled_tasks: {
        parameters: {
            query?: {
                /** @description Of this kind, such as `report` */
                taskType?: string;
                /** @description With this kind of schedule */
                scheduleType?: components["schemas"]["ScheduleType"];
                /** @description Only those that are neither paused nor cancelled, or only the others */
                isActive?: boolean;
                /** @description Only those of which no cycle will begin any more, or only the others */
                isFinished?: boolean;
                /** @description With these words in their name */
                q?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tasks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduledTaskPage"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_scheduled_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `task-…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduledTask"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    delete_scheduled_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `task-…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    change_scheduled_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that is changed, such as `"3"` */
                "If-Match"?: string;
            };
            path: {
                /** @description `task-…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description The fields to change */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "scheduleConfig": {
                 *         "time": "03:00"
                 *       }
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The task as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduledTask"];
                };
            };
            /** @description Every problem of the result */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description It was cancelled */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It has another version */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    cancel_scheduled_task: {
        parameters: {
            query?: {
                /** @description Let open executions go on */
                keepRunning?: boolean;
            };
            header?: never;
            path: {
                /** @description `task-…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduledTask"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It was cancelled before */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    pause_scheduled_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `task-…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduledTask"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It was cancelled */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    resume_scheduled_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `task-…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduledTask"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It was cancelled */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    run_scheduled_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `task-…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It has begun */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskRun"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It was cancelled */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    get_workflow_schema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description JSON Schema, draft 2020-12 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/schema+json": unknown;
                };
            };
            400: components["responses"]["NotValid"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    search: {
        parameters: {
            query?: {
                /** @description An id, an idempotency key or a trace id, exactly; else a part of a name */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResult"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who, and where */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "key": "rf_…"
                 *     }
                 */
                "application/json": components["schemas"]["LogIn"];
            };
        };
        responses: {
            /** @description Logged in; the cookie is in `Set-Cookie` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            400: components["responses"]["NotValid"];
            /** @description The key or the token is wrong, or the token was used */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another site asks for it */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            /** @description Too many attempts from this address failed; `Retry-After` says when to come back */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    log_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It has ended */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    create_session_link: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionLink"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_silences: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All silences */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Silence"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    create_silence: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The silence, in JSON or YAML */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "comment": "the partner moves its servers",
                 *       "ends_at": "2026-11-19T06:00:00Z",
                 *       "rule": "Executions fail",
                 *       "subject": "ship_order"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The silence */
            201: {
                headers: {
                    /** @description The silence */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Silence"];
                };
            };
            /** @description Every problem of the silence */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            /** @description There are too many */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    get_silence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The silence */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Silence"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    replace_silence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description The whole silence, in JSON or YAML */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ends_at": "2026-11-19T08:00:00Z"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The silence */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Silence"];
                };
            };
            /** @description Every problem of the silence */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    delete_silence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    get_minute_stats: {
        parameters: {
            query?: {
                /** @description Only of this workflow */
                workflow?: string;
                /** @description From this time on, such as `2026-11-08T00:00:00Z`; default a day before the end. Minutes are kept for 14 days */
                from?: string;
                /** @description Up to this time; default now */
                to?: string;
                /** @description The length of a step in whole minutes, such as `5m`, at most `1d`, and at most 1500 steps; default one that gives about 100 */
                step?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What happened */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MinuteStats"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_targets: {
        parameters: {
            query?: {
                /** @description Whose circuit breaker stands so; repeat it or separate by commas, such as `open,closing` */
                state?: components["schemas"]["BreakerState"][];
                /** @description Whose host contains this */
                q?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of targets */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetPage"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The host, with its port unless that is the scheme's own
                 * @example api.example.com
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The target */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Target"];
                };
            };
            /** @description That cannot be a host */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    close_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The host, with its port unless that is the scheme's own
                 * @example api.example.com
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The target */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Target"];
                };
            };
            /** @description That cannot be a host */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Circuit breakers are turned off */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    open_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The host, with its port unless that is the scheme's own
                 * @example api.example.com
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The target */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Target"];
                };
            };
            /** @description That cannot be a host */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Circuit breakers are turned off */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    probe_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The host, with its port unless that is the scheme's own
                 * @example api.example.com
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The target */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Target"];
                };
            };
            /** @description That cannot be a host */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Its breaker is not open, or a person keeps it open */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    reset_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The host, with its port unless that is the scheme's own
                 * @example api.example.com
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The target */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Target"];
                };
            };
            /** @description That cannot be a host */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Circuit breakers are turned off */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_time_zones: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All time zones */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TimeZone"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_triggers: {
        parameters: {
            query?: {
                /** @description Of this workflow */
                workflow?: string;
                /** @description Of one of these types; repeat it or separate by commas, such as `cron,schedule` */
                type?: components["schemas"]["TriggerType"][];
                /** @description Only enabled ones, or only disabled ones */
                enabled?: boolean;
                /** @description Only triggers that have missed an expected success, or only the others */
                overdue?: boolean;
                /** @description Whose workflow, name, expression or webhook id contains this */
                q?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of triggers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Trigger"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_upcoming: {
        parameters: {
            query?: {
                /** @description How many triggers, 1 to 1000; default 50 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One planned time of each trigger */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_UpcomingFire"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    replace_trigger: {
        parameters: {
            query?: {
                /** @description If this enables the trigger: whether the times planned during the pause are started */
                catch_up?: boolean;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description The settings, as for a new trigger */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cron_expression": "0 10 * * MON",
                 *       "trigger_type": "cron"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The trigger as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            /** @description Every problem of it */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            /** @description It is being changed by somebody else */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            507: components["responses"]["DiskFull"];
        };
    };
    delete_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    change_trigger: {
        parameters: {
            query?: {
                /** @description If this enables the trigger: whether the times planned during the pause are started */
                catch_up?: boolean;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description The fields to change */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cron_expression": "0 10 * * MON",
                 *       "jitter": null
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The trigger as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            /** @description Every problem of the result */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            /** @description It is being changed by somebody else */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            507: components["responses"]["DiskFull"];
        };
    };
    backfill_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "dry_run": true,
                 *       "from": "2026-11-15T00:00:00Z",
                 *       "only_missed": true,
                 *       "to": "2026-11-16T00:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["BackfillRequest"];
            };
        };
        responses: {
            /** @description What was started or would be; `error` if not all of it could be started */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillResult"];
                };
            };
            /** @description The range is wrong or too long, or there is an `Idempotency-Key` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description It is disabled, or has no planned times */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    disable_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    enable_trigger: {
        parameters: {
            query?: {
                /** @description If this enables the trigger: whether the times planned during the pause are started */
                catch_up?: boolean;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description The same as a body; may be empty */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EnableTrigger"];
            };
        };
        responses: {
            /** @description The trigger, and what happens to the times of the pause */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_next_slots: {
        parameters: {
            query?: {
                /** @description How many, 1 to 1000; default 2 */
                count?: number;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The planned times, the next one first; fewer if there are no more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PlannedSlot"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A webhook has no planned times */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_webhook_requests: {
        parameters: {
            query?: {
                /** @description With one of these statuses; repeat it or separate by commas, such as `auth_failed,error` */
                status?: components["schemas"]["RequestStatus"][];
                /** @description Only tests, or only others */
                test?: boolean;
                /** @description That arrived at or after this time, such as `2026-11-08T00:00:00Z` */
                from?: string;
                /** @description That arrived before this time */
                to?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of requests */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_WebhookRequest"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    recheck_webhook_requests: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "dry_run": true,
                 *       "from": "2026-11-15T00:00:00Z",
                 *       "status": [
                 *         "auth_failed"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RecheckRequests"];
            };
        };
        responses: {
            /** @description What became of each, or would */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecheckedRequests"];
                };
            };
            /** @description A time or the cursor is wrong, or there is an `Idempotency-Key` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description It is disabled, or not a webhook */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    summarize_webhook_requests: {
        parameters: {
            query?: {
                /** @description At or after this time, such as `2026-11-08T00:00:00Z` */
                from?: string;
                /** @description Before this time */
                to?: string;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many came to what */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestSummary"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_webhook_request: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
                /** @description `whr_…` */
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookRequest"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    recheck_webhook_request: {
        parameters: {
            query?: {
                /** @description For checking many: requests without an idempotency key that are equal byte for byte count as one, which is started once, or not at all if the sender has repeated it with success */
                equal_once?: boolean;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
                /** @description `whr_…` */
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It passed: it was started now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such trigger or request */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It still does not pass, whether by a signature or by a filter, or was not kept completely */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    rotate_secret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description Everything is optional */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "keep_previous_for": "24h"
                 *     }
                 */
                "application/json": components["schemas"]["RotateSecret"];
            };
        };
        responses: {
            /** @description The trigger with its new secret */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            /** @description The body or the secret is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description It has no secret, or the previous secret is still valid */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            /** @description Secrets cannot be stored or read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    run_trigger: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key never starts a second execution through this trigger */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description Another input; an empty body means the trigger's own input */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "customer_id": 42
                 *     }
                 */
                "application/json": Record<string, never> | unknown[] | string | number | boolean;
            };
        };
        responses: {
            /** @description It is saved and will run */
            202: {
                headers: {
                    /** @description true if the key was used before for this execution */
                    "Idempotent-Replayed"?: string;
                    /** @description The execution */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description The body or the key is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description The key was used with another input */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_slots: {
        parameters: {
            query?: {
                /** @description With one of these statuses; repeat it or separate by commas, such as `late,skipped` */
                status?: components["schemas"]["SlotStatus"][];
                /** @description Planned at or after this time, such as `2026-11-08T00:00:00Z` */
                from?: string;
                /** @description Planned before this time */
                to?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the ledger */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_LedgerEntry"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    test_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `trg_…` */
                id: string;
            };
            cookie?: never;
        };
        /** @description Everything is optional */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "body": {
                 *         "event_type": "incident.created",
                 *         "incident_id": "INC0010001"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["TestWebhook"];
            };
        };
        responses: {
            /** @description What was sent and what happened, also if it was refused */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestedWebhook"];
                };
            };
            /** @description The body is wrong, or there is an `Idempotency-Key` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description It is not a webhook */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            /** @description Its secret cannot be read */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_trouble: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is wrong */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TroubleList"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    preview_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "body": {
                 *         "event_type": "incident.created"
                 *       },
                 *       "settings": {
                 *         "authentication": "hmac",
                 *         "filters": [
                 *           {
                 *             "json_path": "$.event_type",
                 *             "operator": "equals",
                 *             "value": "incident.created"
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PreviewWebhook"];
            };
        };
        responses: {
            /** @description Every condition with what it found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewedWebhook"];
                };
            };
            /** @description Every problem of the settings, or of the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description It is not a webhook */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    list_workers: {
        parameters: {
            query?: {
                /** @description With one of these statuses; repeat it or separate by commas, such as `ACTIVE,IDLE` */
                status?: components["schemas"]["WorkerStatus"][];
                /** @description Of this kind, such as `n8n` */
                workerType?: string;
                /** @description Whose name, kind or task types contain this */
                q?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of workers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerPage"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    remove_worker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The worker's name
                 * @example n8n-worker-1
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerRemoved"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_workflows: {
        parameters: {
            query?: {
                /** @description With this text in their name */
                q?: string;
                /** @description By `name` (default), or by `-updated`: the last saved first */
                sort?: string;
                /** @description `stats`: triggers, next planned time, open executions and dead letters of each */
                include?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of workflows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Workflow"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    validate_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The definition */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description It is valid; the version it would get */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowSaved"];
                };
            };
            /** @description Every problem of the definition */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The workflow's name
                 * @example customer_360_view
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    save_workflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that is changed, such as `"3"` */
                "If-Match"?: string;
                /** @description `*`: there is none yet */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The workflow's name
                 * @example customer_360_view
                 */
                id: string;
            };
            cookie?: never;
        };
        /** @description The definition; `GET /api/schema/workflow` is its schema */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
                /**
                 * @example id: customer_360_view
                 *     steps:
                 *       - id: tickets
                 *         type: http
                 *         config:
                 *           method: POST
                 *           url: https://crm.example.com/tickets
                 *           body: { customer: "${input.customer_id}" }
                 */
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description Saved, or nothing changed */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created": true,
                     *       "notes": [],
                     *       "version": 1,
                     *       "workflow_id": "customer_360_view"
                     *     }
                     */
                    "application/json": components["schemas"]["WorkflowSaved"];
                };
            };
            /** @description Every problem of the definition */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            /** @description It has another version */
            412: {
                headers: {
                    /** @description That version */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    delete_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The workflow's name
                 * @example customer_360_view
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, with how many triggers were disabled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDeleted"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Executions are open */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    get_cron_history: {
        parameters: {
            query?: {
                /** @description Executions, 1 to 1000; default 50 */
                limit?: number;
                /** @description Of this trigger, `trg_…` */
                trigger_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's name
                 * @example customer_360_view
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger and its executions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CronHistory"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such workflow, or it has no cron trigger */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    diff_workflow_versions: {
        parameters: {
            query?: {
                /** @description The older version, such as 1 */
                from?: number;
                /** @description The newer version, such as 2 */
                to?: number;
            };
            header?: never;
            path: {
                /** @description The workflow's name */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDiff"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such version */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    diff_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The workflow's name */
                id: string;
            };
            cookie?: never;
        };
        /** @description The definition */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The changes; everything is added if there is no such workflow yet */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDiff"];
                };
            };
            /** @description Every problem of the definition */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description No workflow can have this name */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    execute_workflow: {
        parameters: {
            query?: {
                /** @description How long to wait for the end, such as `30s`; at most `60s` */
                wait?: string;
                /** @description 1 (first) to 10 (last); default 5 */
                priority?: number;
                /** @description Start after this delay, such as `5m` */
                delay?: string;
            };
            header?: {
                /** @description The same key never starts a second execution; such as `order-4711` */
                "Idempotency-Key"?: string;
                /** @description The caller's trace (W3C); the calls of the steps belong to it */
                traceparent?: string;
            };
            path: {
                /**
                 * @description The workflow's name
                 * @example customer_360_view
                 */
                id: string;
            };
            cookie?: never;
        };
        /** @description The input: any JSON value but null; an empty body is {} */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "customer_id": 4711
                 *     }
                 */
                "application/json": Record<string, never> | unknown[] | string | number | boolean;
            };
        };
        responses: {
            /** @description It ended within the wait */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Execution"];
                };
            };
            /** @description It is saved and will run */
            202: {
                headers: {
                    /** @description true if the key was used before for this execution */
                    "Idempotent-Replayed"?: string;
                    /** @description The execution */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "execution_id": "exec_01kb2m8x0c7q2t5v9w3y4z6a8d",
                     *       "status": "pending"
                     *     }
                     */
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description The body or a parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such workflow */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description The key was used with another input */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            /** @description It may have been accepted: repeat with the same key */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Nothing was started */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            507: components["responses"]["DiskFull"];
        };
    };
    execute_workflow_batch: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's trace (W3C); the calls of the steps belong to it */
                traceparent?: string;
            };
            path: {
                /**
                 * @description The workflow's name
                 * @example customer_360_view
                 */
                id: string;
            };
            cookie?: never;
        };
        /** @description 1 to 1000 items */
        requestBody: {
            content: {
                /**
                 * @example [
                 *       {
                 *         "idempotency_key": "a",
                 *         "input": {
                 *           "customer_id": 1
                 *         }
                 *       },
                 *       {
                 *         "delay": "30s",
                 *         "input": {
                 *           "customer_id": 2
                 *         }
                 *       }
                 *     ]
                 */
                "application/json": components["schemas"]["BatchItem"][];
            };
        };
        responses: {
            /** @description A result for each item */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_BatchResult"];
                };
            };
            /** @description The body is not a list of 1 to 1000 items */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such workflow */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_workflow_triggers: {
        parameters: {
            query?: {
                /** @description Of one of these types; repeat it or separate by commas, such as `cron,schedule` */
                type?: components["schemas"]["TriggerType"][];
                /** @description Only enabled ones, or only disabled ones */
                enabled?: boolean;
                /** @description Only triggers that have missed an expected success, or only the others */
                overdue?: boolean;
                /** @description Whose workflow, name, expression or webhook id contains this */
                q?: string;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's name
                 * @example customer_360_view
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of triggers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Trigger"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such workflow */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    create_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The workflow's name
                 * @example customer_360_view
                 */
                id: string;
            };
            cookie?: never;
        };
        /** @description The settings, in JSON or YAML */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cron_expression": "0 9 * * MON",
                 *       "input": {
                 *         "customer_id": 42
                 *       },
                 *       "misfire": "fire_once",
                 *       "overlap": "skip",
                 *       "timezone": "Asia/Taipei",
                 *       "trigger_type": "cron"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The trigger */
            201: {
                headers: {
                    /** @description The trigger */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            /** @description Every problem of the trigger */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            /** @description There is no such workflow */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            /** @description Secrets cannot be stored */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    list_workflow_versions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The workflow's name */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All versions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_WorkflowVersion"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such workflow */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_workflow_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The workflow's name */
                id: string;
                /**
                 * @description Counted from 1
                 * @example 1
                 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowVersion"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is none */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_error_page: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Such as RF0001
                 * @example RF0001
                 */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The code's page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["NotValid"];
            /** @description There is no such code */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It runs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["NotValid"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
        };
    };
    livez: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It runs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["NotValid"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["NotValid"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            /** @description It is not, and why */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "stopping"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    schedule_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key never makes a second task */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The task, in JSON or YAML */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "isRecurring": true,
                 *       "scheduleConfig": {
                 *         "cron": "0 9 1 * *",
                 *         "timezone": "Asia/Taipei"
                 *       },
                 *       "scheduleType": "cron",
                 *       "taskConfig": {
                 *         "retryConfig": {
                 *           "maxRetries": 2,
                 *           "retryIntervalMinutes": 30,
                 *           "retryOnTimeout": true
                 *         },
                 *         "targetConfig": {
                 *           "method": "POST",
                 *           "triggerType": "http",
                 *           "url": "https://reports.example.com/run"
                 *         },
                 *         "taskPayload": {
                 *           "reportType": "monthly"
                 *         },
                 *         "taskType": "report"
                 *       },
                 *       "taskName": "Monthly report"
                 *     }
                 */
                "application/json": Record<string, never>;
                "application/yaml": Record<string, never>;
            };
        };
        responses: {
            /** @description The task that was made with this key before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduledTaskCreated"];
                };
            };
            /** @description The task */
            201: {
                headers: {
                    /** @description The task */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduledTaskCreated"];
                };
            };
            /** @description Every problem of the task */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["NotFromConsole"];
            408: components["responses"]["TooSlow"];
            /** @description The key was used with another request */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    call_back: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description What the target was given as `${callback.token}`
                 * @example cb_AZqLxQAAcACAAAAAAAAAAAAAAAAAAQ.q83vEjRWeJCrze8SNFZ4kA
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallbackBody"];
            };
        };
        responses: {
            /** @description It is recorded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The body is wrong, or nothing waits for this callback any more */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Nothing is known by this token */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["DiskFull"];
        };
    };
    get_task_history: {
        parameters: {
            query?: {
                /** @description Of this cycle */
                cycle?: number;
                /** @description That came to one of these; repeat it or separate by commas, such as `failed,timeout` */
                status?: components["schemas"]["TaskExecutionStatus"][];
                /** @description Only retries, or only first attempts */
                isRetry?: boolean;
                /** @description Rows, 1 to 1000; default 50 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description `task-…` */
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of attempts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskHistory"];
                };
            };
            /** @description A parameter is wrong */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description There is no such task */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_task_status: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `task-…` */
                taskId: string;
                /** @description `exec_…-` and the attempt */
                executionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the target answered, whatever its status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskStatusAnswer"];
                };
            };
            400: components["responses"]["NotValid"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such attempt, or its target has not said how to ask */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            /** @description This kind of query is not supported yet */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The target could not be asked */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: components["responses"]["Unavailable"];
        };
    };
    get_version: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Version"];
                };
            };
            400: components["responses"]["NotValid"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
        };
    };
    receive_webhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key never starts a second execution of this webhook */
                "Idempotency-Key"?: string;
                /** @description The sender's trace (W3C); the calls of the steps belong to it */
                traceparent?: string;
            };
            path: {
                /**
                 * @description The id in the webhook's address
                 * @example wh_01kb2m8x0c7q2t5v9w3y4z6a8d
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        /** @description What the sender sends: JSON, or a form, which becomes JSON */
        requestBody?: {
            content: {
                "application/json": Record<string, never> | unknown[] | string | number | boolean;
            };
        };
        responses: {
            /** @description It started an execution, or there was no need to */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "execution_id": "exec_01kb2m8x0c7q2t5v9w3y4z6a8d",
                     *       "message": "the execution is saved and will run",
                     *       "status": "triggered"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            /** @description The body cannot be read */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The signature or key is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Requests from this address are not accepted */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such webhook, or it is disabled */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["TooSlow"];
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The content type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests: try again after `Retry-After` seconds */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["Internal"];
            /** @description Nothing was started: send it again */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            507: components["responses"]["DiskFull"];
        };
    };
}
