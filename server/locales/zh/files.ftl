### A site of files, which has no server behind it.

files-promise = 按词或按错误消息查找错误，或让此浏览器读取日志，即可得到原因、有效的做法，以及不必浪费时间的做法。
files-no-server = 本站由文件组成，背后没有服务器。您在此输入、粘贴或读取的内容不会发送到任何地方。
files-search-needs-script = 搜索在此浏览器中运行，需要脚本。没有脚本时，列表中有全部记录。
files-log-needs-script = 日志由此浏览器读取，需要脚本。
files-second-missing = 此处没有中文文本：需要脚本和网络。
files-read-log = 读取日志
files-read-log-means = 粘贴一行错误或整个日志，或选择文件。由此浏览器读取，不发送任何内容。
files-box-label = 错误信息或日志
files-drop-here = 也可将文件拖放到此处，包括 .gz 文件。
files-by-domain = 按领域列出的全部记录
files-loading = 正在获取索引……
files-broken = 无法获取索引。请重新加载页面再试。
files-unsupported = 此浏览器无法在此搜索。列表中有全部记录。
files-log-unsupported = 此浏览器无法读取。未发送任何内容。
files-more = 更多
files-out-of-it = 由此通向其他领域
files-not-sent = 已在此标签页中读取。未发送其中任何内容：其间浏览器发出 { $requests } 个请求。
files-found = 找到的记录：{ $count }
