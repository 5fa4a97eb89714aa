import{n as e}from"./rolldown-runtime-WkwZ5CU-.js";import{j as t,u as n}from"./mantine-CIFNtRZR.js";import{F as r,I as i,i as a,r as o}from"./parts-Dfbjjnm7.js";import{C as s,f as c,u as l,v as u}from"./tanstack-ef1duR09.js";import{i as d,t as f}from"./react-FrbPb9NH.js";import{An as p,C as m,cr as h,m as g,p as _,pr as v,s as y,sr as b,zn as x}from"./app-DZ-mDqa8.js";import{t as S}from"./DefinitionEditor-q5Am9nH2.js";import{n as C}from"./draft-CvtZgMpO.js";import{n as w}from"./edit-BiapJ5k0.js";import{t as T}from"./verdict-C3jVoXta.js";import{i as E,r as D,t as O}from"./yaml-DLK98F-N.js";import{Ft as k,wt as A}from"./kit-BiPBss-T.js";import{t as j}from"./workflows.module-Kdh8UvI6.js";var M=e(d(),1),N=[{name:`http`,title:`workflows.tplHttp`,text:`workflows.tplHttpText`,definition:`# Calls a service, and tries again when it fails.
id: my_workflow
name: Call a service
retry: { maxRetries: 5, initialDelay: 2s, strategy: exponential, jitter: proportional }
steps:
  - id: call
    type: http
    config:
      method: POST
      url: https://api.example.com/orders
      headers: { Accept: application/json }
      body: { order: "\${input.order_id}" }
      timeout: 30s
`},{name:`webhook`,title:`workflows.tplWebhook`,text:`workflows.tplWebhookText`,definition:`# What a webhook sends is the input. Add the webhook under "Triggers" when this is saved.
id: my_webhook
name: Pass an event on
steps:
  - id: forward
    type: http
    config:
      method: POST
      url: https://api.example.com/events
      body:
        kind: "\${input.event_type}"
        number: "\${input.incident_id}"
        event: "\${input}"
`},{name:`saga`,title:`workflows.tplSaga`,text:`workflows.tplSagaText`,definition:`# If the second step fails for good, the first one is undone.
id: my_saga
name: Book a trip
retry: { maxRetries: 3, initialDelay: 1s }
steps:
  - id: hotel
    type: http
    compensate: cancel_hotel
    config:
      method: POST
      url: https://travel.example.com/hotels
      body: { city: "\${input.city}" }
  - id: flight
    type: http
    config:
      method: POST
      url: https://travel.example.com/flights
      body: { to: "\${input.city}" }
  - id: cancel_hotel
    type: http
    config:
      method: DELETE
      url: "https://travel.example.com/hotels/\${steps.hotel.output.body.booking}"
output: { hotel: "\${steps.hotel.output.body.booking}" }
`},{name:`external`,title:`workflows.tplExternal`,text:`workflows.tplExternalText`,definition:`# A worker outside fetches the task, does it and reports its result.
id: my_task
name: Work for a worker
steps:
  - id: resize
    type: external_task
    config:
      taskType: images.resize
      input: { image: "\${input.image_url}", width: "\${input.width ?? 800}" }
      timeout: 10m
      lockDuration: 2m
      retries: 3
`}],P=f(),F={http:o,webhook:a,saga:r,external:n},I=`workflow-new`,L=e=>{let t=D(O(E(e),`id`)?.value??null);return t===null?``:String(t)};function R(e){let t=s(),n=c(),{draft:r,change:i}=C(I),a=N.find(t=>t.name===e)??N[0],o=r?.text??a.definition,l=(0,M.useMemo)(()=>L(o),[o]),[u,d]=(0,M.useState)({checking:!0}),[f,p]=(0,M.useState)(!1),[g,y]=(0,M.useState)(),[b,x]=(0,M.useState)(),S=(0,M.useCallback)(e=>i(N.some(t=>t.definition===e)?void 0:{text:e}),[i]),w=(u.problems?.length??0)===0&&!u.checking&&!u.error,E=l!==``&&w;return{text:o,id:l,type:S,chosen:r===void 0?a.name:void 0,start:e=>{i(void 0),n.navigate({to:`/workflows`,search:{new:e},replace:e!==void 0})},create:async()=>{if(E&&!f){p(!0),y(void 0);try{let e=await _(l,o,T(o),`new`);i(void 0),A(h(`workflow.savedAs`,{version:e.version})),t.invalidateQueries({queryKey:m});let r=a.name===`webhook`?`triggers`:void 0;await n.navigate({to:`/workflows/$id`,params:{id:l},search:{tab:r}})}catch(e){e instanceof v&&e.status===412?x(l):y(e)}finally{p(!1)}}},ready:E,busy:f,error:g,taken:b===l,setJudged:d}}function z({template:e}){let{data:n}=u(g),r=R(e),{text:a,id:o,type:s,create:c}=r;p([{keys:`mod+s`,label:h(`workflow.keySave`),run:c,inFields:!0}]);let d=(0,P.jsx)(l,{to:`/workflows/$id`,params:{id:o},children:o});return(0,P.jsx)(k,{title:h(`workflows.new`),actions:(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(t,{variant:`default`,onClick:()=>r.start(void 0),children:h(`common.cancel`)}),(0,P.jsx)(t,{onClick:c,loading:r.busy,disabled:!r.ready,children:h(`workflows.create`)})]}),children:(0,P.jsxs)(`div`,{className:j.new,children:[(0,P.jsx)(B,{chosen:r.chosen,choose:r.start}),(0,P.jsxs)(`div`,{className:j.work,children:[(0,P.jsx)(i,{label:h(`workflows.id`),description:h(`workflows.idText`),maw:420,value:o,onChange:e=>s(w(a,[`id`],e.currentTarget.value.trim())),error:r.taken&&b(`workflows.taken`,{link:d})}),r.error!==void 0&&(0,P.jsx)(x,{error:r.error}),(0,P.jsx)(S,{text:a,onChange:s,label:h(`workflows.new`),check:y,schema:n,onVerdict:r.setJudged})]})]})})}function B({chosen:e,choose:t}){return(0,P.jsx)(`div`,{className:j.templates,role:`group`,"aria-label":h(`workflows.templates`),children:N.map(({name:n,title:r,text:i})=>{let a=F[n];return(0,P.jsxs)(`button`,{type:`button`,className:j.template,"aria-pressed":n===e,onClick:()=>t(n),children:[(0,P.jsx)(a,{size:18,stroke:1.75,"aria-hidden":`true`}),(0,P.jsx)(`strong`,{children:h(r)}),(0,P.jsx)(`span`,{children:h(i)})]},n)})})}export{z as NewWorkflow};