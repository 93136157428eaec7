### 在读者浏览器中读取的日志，以及输入框旁的选项。

tab-title = 在此标签页中读取
tab-choice = 在此标签页中读取文件：不发送任何内容
tab-choice-means = {" "}勾选上面的选项时，文件在此标签页中读取；.zst 文件只能由本服务器读取。输入框中的内容会在点击“查询”时发送到本服务器。
tab-read-text = 在标签页中读取此文本
tab-loading = 正在获取记录，不发送任何内容……
tab-broken = 无法获取记录。未发送任何内容。请重试。
tab-unsupported = 此浏览器无法在本地读取。未发送任何内容。如需由本服务器读取，请取消勾选“在此标签页中读取文件”。
tab-unreadable = 未能读取，也未发送其中任何内容：
tab-unknown-cause = 最初原因在第 { $line } 行：“{ $error }”。没有记录认识它。
tab-unexplained = 看起来像错误、但没有记录能解释的行：{ $lines }
tab-unexplained-more = 并未查看所有看起来像错误的行；其余的行可能含有没有记录能解释的错误。
tab-unknown-raised = 第 { $line } 行有一个没有记录认识的错误：“{ $error }”。文本没有说明程序是否因此结束。
tab-interrupted = 程序被用户中断（第 { $line } 行的“{ $error }”）。这不是故障。
tab-because-of-line = 由第 { $line } 行的错误引发
tab-none-found = 没有已知错误
tab-no-candidates = 在标签页中不查找仅仅相似的记录。
tab-needs-script = 此页由脚本填写，内容是您的浏览器在日志中找到的结果。
tab-sent = 内容已发送到本服务器并在那里读取。
tab-progress = 正在此标签页中读取，不发送任何内容：{ $size }
tab-found = 已知错误：{ $count }
tab-read = 已读取 { $lines } 行（{ $size }）。
tab-not-sent = 已在此标签页中读取。未发送其中任何内容：其间浏览器发出 { $requests } 个请求，并阻止读取日志的工作线程发出任何请求。
tab-line = 第 { $line } 行
tab-shown-of = 显示 { $all } 个中的 { $shown } 个。
